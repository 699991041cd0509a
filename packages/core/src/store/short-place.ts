/**
 * Where an entry belongs, as a list, for texts that are stored. What follows from the job, the conversation and the path of its agent is 0, and
 * zeros at the end are left out.
 */
import type { CallPlace, Entry } from '@witan/protocol/entries'

/** The same for each entry of a job in its place, and what follows from it. */
type Short = [
  epoch: number,
  appendNo: number,
  call: string | 0,
  parentCall: string | 0 | null,
  agentPath: string,
  ...rest: Rest,
]
type Rest = [
  ...[run?: string | 0, document?: string | 0, author?: string | 0, invocation?: string | 0],
  ...[branches?: readonly string[] | 0, view?: Entry['view'] | 0],
]

/** The place of an entry as a list; null if it cannot be told from a shortened one. */
export function shortPlace(entry: Entry, conversation: string): readonly unknown[] | null {
  const { job, epoch, appendNo, view = 0 } = entry
  const { call, parentCall, run, document, author, agentPath, invocation, branches = 0 } = entry.place
  if (call.startsWith('_') || run.startsWith('_') || parentCall?.startsWith('_') === true) return null
  const start = startOf(job)
  const below = belowRoot(agentPath)
  const list: Short = [
    ...([
      epoch,
      appendNo,
      shortId(call, job, start),
      parentCall === null ? null : shortId(parentCall, job, start),
    ] as const),
    ...([agentPath, shortId(run, job, start), document === conversation + below ? 0 : document] as const),
    ...([author === lastOf(agentPath) ? 0 : author, invocation === invocationOf(run, below) ? 0 : invocation] as const),
    ...([branches, view] as const),
  ]
  while (list.length > 5 && list.at(-1) === 0) list.pop()
  return list
}

/** What a list was made from. */
export function longPlace(
  list: readonly unknown[],
  { job, conversation }: { readonly job: string; readonly conversation: string },
): Pick<Entry, 'place' | 'epoch' | 'appendNo' | 'view'> {
  const [epoch, appendNo, shortCall, shortParent, agentPath, shortRun = 0, ...more] = list as Short
  const [document = 0, author = 0, invocation = 0, branches = 0, view = 0] = more
  const start = startOf(job)
  const below = belowRoot(agentPath)
  const run = longId(shortRun, job, start)
  const place: CallPlace = {
    call: longId(shortCall, job, start),
    parentCall: shortParent === null ? null : longId(shortParent, job, start),
    run,
    document: document === 0 ? conversation + below : document,
    author: author === 0 ? lastOf(agentPath) : author,
    agentPath,
    invocation: invocation === 0 ? invocationOf(run, below) : invocation,
    ...(branches === 0 ? {} : { branches }),
  }
  return { place, epoch, appendNo, ...(view === 0 ? {} : { view }) }
}

/** Ids that a process makes begin alike, up to a last `_`. */
function startOf(job: string): string {
  return job.slice(0, job.lastIndexOf('_') + 1)
}

function shortId(id: string, job: string, start: string): string | 0 {
  if (id === job) return 0
  return start !== '' && id.startsWith(start) ? id.slice(start.length - 1) : id
}

function longId(short: string | 0, job: string, start: string): string {
  if (short === 0) return job
  return short.startsWith('_') ? start + short.slice(1) : short
}

/** The path behind its first agent, with the `/` before it. */
function belowRoot(agentPath: string): string {
  const at = agentPath.indexOf('/')
  return at === -1 ? '' : agentPath.slice(at)
}

function lastOf(agentPath: string): string {
  return agentPath.slice(agentPath.lastIndexOf('/') + 1)
}

function invocationOf(run: string, below: string): string {
  return run + below.replaceAll('/', '.sub.')
}
