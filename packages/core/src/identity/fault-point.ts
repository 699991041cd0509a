/** Points where a test may make the process fail: a closed list of names. They do nothing unless a test arms them. */

/**
 * Every fault point. `x` is passed just before the append of `x` is sent to the store, and `x-committed` once the store has
 * confirmed that it is durable. `committing` is inside the transaction of a store on disk, with its locks held and nothing
 * durable yet. The other names say where they are.
 */
export const faultPointNames = [
  'claimed',
  'taken-over',
  'heartbeat',
  'released',
  'fenced',
  'committing',
  'request-accepted',
  'request-accepted-committed',
  'budget-reserved',
  'memory-recorded',
  'retrieval-recorded',
  'tools-recorded',
  'model-request',
  'model-reply-received',
  'model-reply-recorded',
  'model-reply-committed',
  'admitted',
  'tool-started',
  'tool-started-committed',
  'effect-done',
  'tool-ended',
  'tool-ended-committed',
  'child-spawned',
  'child-spawned-committed',
  'child-ended',
  'child-ended-committed',
  'task-spawned',
  'task-spawned-committed',
  'task-started',
  'task-started-committed',
  'task-ended',
  'task-ended-committed',
  'follow-up-created',
  'follow-up-created-committed',
  'interruption-opened',
  'interruption-opened-committed',
  'answered',
  'answered-committed',
  'resumed',
  'cancelled',
  'cancelled-committed',
  'parked',
  'parked-committed',
  'ended',
  'ended-committed',
] as const

/** The name of a fault point. */
export type FaultPoint = (typeof faultPointNames)[number]

/** Runs at every armed point; it may end the process, stop it, block it or throw. */
export type FaultHandler = (name: FaultPoint) => void

const pattern = /^([a-z0-9-]+)#(\d{1,6}):(kill9|stop|throw|delay|tell)(?:\((\d{1,7})\))?$/

let armed: FaultHandler | null = handlerOf(process.env['FAULTS'])

/** Passes a point. Costs one comparison unless points are armed. */
export function faultPoint(name: FaultPoint): void {
  if (armed !== null) armed(name)
}

/** True if anything is armed; otherwise callers can skip the work of finding out which points they pass. */
export function isArmed(): boolean {
  return armed !== null
}

/**
 * Arms points for this process: a handler that is called at every point, a text such as `effect-done#2:kill9` (see
 * `readFaults`), or null for none. The environment variable `FAULTS` is armed from the start.
 */
export function armFaults(faults: FaultHandler | string | null): void {
  armed = typeof faults === 'function' ? faults : handlerOf(faults)
}

/**
 * One fault: at the `at`-th pass of its point. `ms` is set only for `delay`, which blocks the thread; `tell` only reports
 * the pass on standard error.
 */
export interface Fault {
  readonly name: FaultPoint
  readonly at: number
  readonly action: 'kill9' | 'stop' | 'throw' | 'delay' | 'tell'
  readonly ms: number
}

/**
 * Reads `name#n:action`, several separated by commas. Actions: `kill9`, `stop`, `throw`, `delay(ms)`, `tell`. Throws on
 * anything else.
 */
export function readFaults(text: string): readonly Fault[] {
  return text.split(',').map((one) => {
    const [, name, at, action, ms] = pattern.exec(one.trim()) ?? []
    const point = faultPointNames.find((known) => known === name)
    if (point === undefined || action === undefined || (action === 'delay') !== (ms !== undefined))
      throw new Error(`FAULTS: \`${one}\` is not \`name#n:action\` with a known name and action`)
    return { name: point, at: Number(at), action: action as Fault['action'], ms: Number(ms ?? 0) }
  })
}

function handlerOf(text: string | null | undefined): FaultHandler | null {
  if (text === undefined || text === null || text === '') return null
  const faults = readFaults(text)
  const passed = new Map<FaultPoint, number>()
  return (name) => {
    const times = 1 + (passed.get(name) ?? 0)
    passed.set(name, times)
    for (const fault of faults) if (fault.name === name && fault.at === times) perform(fault)
  }
}

const signalMs = 60_000

function perform({ name, action, ms }: Fault): void {
  if (action === 'throw') throw new Error(`fault point ${name}`)
  if (action === 'delay') return block(ms)
  if (action === 'tell') return console.error(`fault point ${name}`)
  process.kill(process.pid, action === 'kill9' ? 'SIGKILL' : 'SIGSTOP')
  // The signal may take a moment to arrive; nothing may run before it does.
  block(action === 'kill9' ? signalMs : 20)
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
