/** `witan dev`: server, Studio, and a new start of both when the configuration changes. */
import { relative } from 'node:path'
import { createClient } from '@witan/client'
import type { Config, WitanServer } from '@witan/server'
import { startServer } from '@witan/server'
import type { Command, Given } from '../command.ts'
import { configOption } from '../command.ts'
import { converse } from '../conversing.ts'
import { StartError, UsageError } from '../exit.ts'
import { printFailure } from '../failure.ts'
import { quiet, readConfig, readConfigFile } from '../loading.ts'
import { parameterOptions, readParameters } from '../parameters.ts'
import { createProjectModules, type ProjectModules } from '../reloading.ts'
import { endOf, surviveStrayRejections, untilStopped } from '../stopping.ts'
import type { Terminal } from '../terminal.ts'
import { painter, print } from '../terminal.ts'
import { version } from '../version.ts'
import { printWelcome } from '../welcome.ts'

export const devCommand: Command = {
  name: 'dev',
  summary: 'Serve the agents with the Studio, and take up every change of the configuration.',
  options: {
    ...configOption,
    run: { value: 'AGENT', help: 'Run that agent once at the start, with --message.' },
    message: { value: 'TEXT', help: 'What the first run is asked.' },
    ...parameterOptions,
  },
  examples: ['witan dev', 'witan dev --run front-desk --message "Who is my manager?" --param userId=employees/3'],
  run: async (given, terminal) => {
    checkFirstRun(given)
    const config = await readConfig(given, terminal)
    const modules = config.file === null ? null : createProjectModules(config.file)
    try {
      // Once more, now that it is known which modules to follow.
      return await serve({ given, terminal, modules }, modules === null ? config : await readConfig(given, terminal))
    } finally {
      modules?.close()
    }
  },
}

interface Desk {
  readonly given: Given
  readonly terminal: Terminal
  readonly modules: ProjectModules | null
}

async function serve(desk: Desk, config: Config) {
  const { terminal, modules } = desk
  printHead(terminal, config)
  const state = { config, server: await start(config) }
  await firstRun(desk, state.server)
  surviveStrayRejections()
  const stopped = untilStopped()
  let turn = Promise.resolve()
  const watching = modules?.watch(() => {
    turn = turn.then(() => {
      modules.renew()
      return restart(desk, state)
    })
  })
  // Whoever reads the address may stop it, or change a file.
  printAddress(terminal, state.server)
  await stopped
  watching?.close()
  await turn
  return endOf(await state.server.close())
}

interface State {
  config: Config
  server: WitanServer
}

/** A configuration that cannot be read, or started, is told and changes nothing. */
async function restart({ terminal }: Desk, state: State): Promise<void> {
  try {
    const read = await readConfigFile(state.config.file ?? undefined, terminal)
    const next = keepPort(read, state)
    await state.server.close()
    try {
      state.server = await start(next)
      state.config = read
    } catch (error) {
      state.server = await start(keepPort(state.config, state))
      throw error
    }
    note(terminal, 'The configuration changed: taken up.')
    printAddress(terminal, state.server)
  } catch (error) {
    printFailure(terminal, error)
    note(terminal, 'The configuration before it goes on.')
  }
}

/** Port 0 was any free one: the one that was found stays. */
function keepPort(next: Config, { config, server }: State): Config {
  if (next.server.port !== config.server.port) return next
  return { ...next, server: { ...next.server, port: server.port } }
}

async function start(config: Config): Promise<WitanServer> {
  try {
    return await startServer(quiet(config))
  } catch (error) {
    throw new StartError(error)
  }
}

function checkFirstRun(given: Given): void {
  if (given.has('run') === given.has('message')) return
  throw new UsageError('--run and --message belong together.', 'Write --run AGENT --message TEXT.')
}

async function firstRun({ given, terminal }: Desk, { url, token }: WitanServer): Promise<void> {
  const agent = given.text('run')
  const message = given.text('message')
  if (agent === undefined || message === undefined) return
  const client = createClient({ url, ...(token === null ? {} : { token }) })
  try {
    const parameters = await readParameters(given, agent, client)
    const chat = client.conversation(agent, { parameters })
    const connection = { client, url, lasts: true, options: configWords(given), close: () => Promise.resolve() }
    const stage = { terminal, connection, chat }
    await printWelcome(stage, message)
    await converse(stage, message)
    print(terminal.output)
  } catch (error) {
    printFailure(terminal, error)
  } finally {
    client.close()
  }
}

function configWords(given: Given): string {
  const file = given.text('config')
  return file === undefined ? '' : ` --config ${file}`
}

function printHead(terminal: Terminal, config: Config): void {
  const paint = painter(terminal)
  const file =
    config.file === null ? 'no configuration file: defaults' : relative(terminal.folder, config.file) || config.file
  print(
    terminal.output,
    paint([
      { text: `witan ${version()}`, tone: 'strong' },
      { text: `  ${file}`, tone: 'faint' },
    ]),
  )
  print(terminal.output)
}

function printAddress(terminal: Terminal, { url, pageUrl }: WitanServer): void {
  const paint = painter(terminal)
  print(
    terminal.output,
    paint([
      { text: '  Studio  ', tone: 'faint' },
      { text: pageUrl, tone: 'busy' },
    ]),
  )
  print(
    terminal.output,
    paint([
      { text: '  API     ', tone: 'faint' },
      { text: `${url}/api/v1`, tone: 'plain' },
    ]),
  )
  print(
    terminal.output,
    paint([{ text: '  Ctrl+C stops; a change of the configuration is taken up at once.', tone: 'faint' }]),
  )
  print(terminal.output)
}

function note(terminal: Terminal, text: string): void {
  print(terminal.output, painter(terminal)([{ text: `↻ ${text}`, tone: 'busy' }]))
}
