/** Who may reach the server, whether one runs, and whether it could. */
import { createServer } from 'node:net'
import { checkBinding, type Config, type RunningServer, storeFile } from '@witan/server'
import { isWitan, statusOf, urlOf } from '../listening.ts'
import { bad, type DoctorFinding, good, refused } from './finding.ts'

/** Whether the auth mode is safe at this address. */
export function lookAtAccess({ server: { host }, auth: { mode } }: Config): DoctorFinding {
  try {
    checkBinding(host, mode)
  } catch (error) {
    return refused('access', error, 'Set server.host to "127.0.0.1".')
  }
  if (mode === 'keys' || mode === 'jwt') {
    const how = mode === 'keys' ? 'an API key of its database' : 'a token of the issuer'
    return good('access', `mode ${mode}: every caller shows ${how}`)
  }
  const how = mode === 'none' ? 'everybody on this machine, without a token' : 'a token that is printed at the start'
  return good('access', `mode ${mode}: ${how}; ${host} is reached from this machine only`)
}

/** The running server's health; without one, whether its port is free. */
export async function lookAtServer(config: Config, running: RunningServer | null): Promise<DoctorFinding> {
  return running === null ? await lookAtPort(config) : await lookAtHealth(running.url)
}

async function lookAtHealth(url: string): Promise<DoctorFinding> {
  const answer = await statusOf(`${url}/readyz`)
  if (answer === 200) return good('server', `one runs at ${url} and takes work`)
  const text = `The server at ${url} takes no work: /readyz gave ${answer ?? 'no answer'}.`
  return bad('server', text, 'Wait if it is starting or stopping; else restart it and read what it writes.')
}

async function lookAtPort(config: Config): Promise<DoctorFinding> {
  const { host, port } = config.server
  if (port === 0) return good('server', 'none runs; it will take any free port')
  const code = await codeOfListening(host, port)
  if (code === null) return good('server', `none runs; port ${port} of ${host} is free`)
  if (code !== 'EADDRINUSE') {
    const text = `Port ${port} of ${host} cannot be listened on: ${code}.`
    return bad('server', text, 'Set server.host and server.port to an address of this machine.')
  }
  const url = urlOf(config.server)
  const isOurs = await isWitan(url)
  if (isOurs && storeFile(config) === null) return await lookAtHealth(url) // only files are noted beside who serves them
  const who = isOurs ? 'a server of Witan on another store' : 'a program that does not answer as Witan'
  return bad('server', `Port ${port} of ${host} is taken by ${who}.`, 'Stop it, or set server.port or WITAN_PORT.')
}

/** Null where listening works. */
function codeOfListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'refused'))
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port }, () => server.close(() => resolve(null)))
  })
}
