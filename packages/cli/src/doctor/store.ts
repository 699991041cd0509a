/** The store: where it is, who has it, whether this version can open it, who else may read it. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type inspectStoreFile, inspectStoreServer, type StoreServerReport } from '@witan/core/tooling'
import { type Config, serversOf } from '@witan/server'
import { plural } from '../tree/phrase.ts'
import { bad, type DoctorFinding, good, refused, warning } from './finding.ts'
import { size } from './machine.ts'

type StoreFileReport = ReturnType<typeof inspectStoreFile>

/** What there is to say of a store file. `isServed`: the server that holds it has answered. */
export async function lookAtStore(file: string, report: StoreFileReport, isServed: boolean): Promise<DoctorFinding[]> {
  if (report.state === 'missing') return [await lookAtFolder(file)]
  return [lookAtState(file, report, isServed), ...(await lookAtModes(file))]
}

/** A store on PostgreSQL servers, reached in the way that a server of Witan takes to them. Nothing is made or set there. */
export async function lookAtStoreServers(config: Config): Promise<DoctorFinding[]> {
  let servers: ReturnType<typeof serversOf>
  try {
    servers = serversOf(config)
  } catch (error) {
    return [refused('store', error, 'Set the variable, or take the cluster out of store.clusters.')]
  }
  const names = Object.keys(servers)
  const found = await Promise.all(
    Object.entries(servers).map(([name, server]) =>
      lookAtStoreServer(names.length > 1 ? `store ${name}` : 'store', server),
    ),
  )
  return found.flat()
}

async function lookAtStoreServer(what: string, server: ReturnType<typeof serversOf>[string]): Promise<DoctorFinding[]> {
  const { schema = 'witan' } = server
  let report: StoreServerReport
  try {
    report = await inspectStoreServer({ ...server, timeouts: { connectMs: 3_000 } })
  } catch (error) {
    return [refused(what, error, 'Start the server, or correct store.url or WITAN_STORE_URL.')]
  }
  const { address, version, connections, standbys } = report
  const made = version === 0 ? `schema ${schema} is made at the first start` : `schema ${schema}, version ${version}`
  const found =
    version === null
      ? bad(
          what,
          `${address} answers; schema ${schema} is there, and this user may not read its version.`,
          `Give the user of store.url the roles ${schema}_app and ${schema}_worker.`,
        )
      : good(what, `${address} answers; ${made}`)
  return [found, ...lookAtConnectionsLeft(connections), ...lookAtStandbys(standbys)]
}

function lookAtConnectionsLeft({ needed, free }: StoreServerReport['connections']): DoctorFinding[] {
  if (free >= needed) return []
  const text = `This user may open ${plural(Math.max(0, free), 'more connection')}; each process takes up to ${needed}.`
  const fix = 'Raise max_connections or the limit of the user or database, or lower store.poolSize.'
  return [warning('connections of the store', text, fix)]
}

function lookAtStandbys(standbys: StoreServerReport['standbys']): DoctorFinding[] {
  if (standbys === null) return []
  const { needed, following } = standbys
  if (following >= needed)
    return [
      good('standby', `every commit waits for ${plural(needed, 'standby server')}, and ${following} of them follow`),
    ]
  const text = `Every commit waits for ${plural(needed, 'standby server')} (synchronous_standby_names), and ${following} of them follow: nothing can be written.`
  return [bad('standby', text, 'Start the standby, or change synchronous_standby_names on the primary.')]
}

/** What is waiting in the store. */
export function lookAtWork({ openJobs, openInterruptions }: StoreFileReport): DoctorFinding {
  const waiting = `${plural(openInterruptions, 'interruption')} open`
  const jobs = `${plural(openJobs, 'job')} not ended`
  return good('work', `${jobs}, ${waiting}${openJobs > 0 ? '; the next start goes on with what can go on' : ''}`)
}

function lookAtState(file: string, report: StoreFileReport, isServed: boolean): DoctorFinding {
  const { version, knownVersion, pid, detail } = report
  const other = 'Give store.url the path of a store file, or of one that does not exist yet.'
  switch (report.state) {
    case 'held': {
      if (isServed) return good('store', `${file}, open in the server`)
      const who = pid === null ? 'another process' : `process ${pid}`
      return bad(
        'store',
        `STORE_LOCKED: ${file} is in use by ${who}, which answers no request.`,
        `Stop ${who}, or use another file.`,
      )
    }
    case 'foreign':
      return bad('store', `STORE_UNREACHABLE: ${file} is an SQLite file, but not a Witan store.`, other)
    case 'unreadable':
      return bad('store', `STORE_UNREACHABLE: ${file} cannot be read: ${detail}.`, other)
    default:
      break
  }
  if (version !== null && version > knownVersion) {
    const text = `SCHEMA_TOO_NEW: ${file} has schema ${version}; this version knows up to ${knownVersion}.`
    return bad('store', text, 'Use the newer version of Witan, or another file.')
  }
  const change = version === knownVersion ? '' : `; the next start makes it ${knownVersion}`
  return good('store', `${file}, schema ${version}${change}`)
}

async function lookAtFolder(file: string): Promise<DoctorFinding> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => null)
    if (found === null && dirname(folder) !== folder) continue
    const isWritable = await access(folder, constants.W_OK | constants.X_OK).then(
      () => found?.isDirectory() === true,
      () => false,
    )
    if (isWritable) return good('store', `${file}, made at the first start`)
    const text = `STORE_UNREACHABLE: ${file} is not there, and ${folder} is no folder that this user may write.`
    return bad('store', text, 'Give that user the folder, or set store.url to a path in another one.')
  }
}

/** Hidden values stand in the file: nobody else should read it. */
async function lookAtModes(file: string): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const path of [file, `${file}-wal`, `${file}.token`]) {
    const found = await stat(path).catch(() => null)
    if (found === null || process.platform === 'win32') continue
    const mode = found.mode & 0o777
    if ((mode & 0o077) === 0) continue
    const text = `${path} has mode ${mode.toString(8).padStart(4, '0')}: others on this machine may read it.`
    findings.push(warning('store', text, `chmod 600 ${path}`))
  }
  const [main, log] = await Promise.all([file, `${file}-wal`].map((path) => stat(path).catch(() => null)))
  const denied = await access(file, constants.R_OK | constants.W_OK).then(
    () => false,
    () => true,
  )
  if (denied)
    findings.push(bad('store', `${file} may not be read and written by this user.`, `chown it, or run as its owner.`))
  else if (main != null) findings.push(good('size', `${size(main.size + (log?.size ?? 0))}`))
  return findings
}
