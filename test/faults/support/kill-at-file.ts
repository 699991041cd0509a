/**
 * Loaded before a program: kills it before the step of `KILL_AT`, from 1, of all that it does to files by promises. A write of a text is one step, so is a wait for the disk.
 */
import promises, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

const at = Number(process.env['KILL_AT'] ?? 0)
let steps = 0

type Step = (...values: unknown[]) => Promise<unknown>

function watched(step: Step): Step {
  return async function (this: unknown, ...values) {
    steps += 1
    if (steps === at) await die()
    return step.apply(this, values)
  }
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

const all = promises as unknown as Record<string, Step>
const open = all['open'] as Step
for (const name of ['rename', 'rm', 'mkdir'] as const) all[name] = watched(all[name] as Step)
all['open'] = watched(async (...values) => {
  const handle = (await open(...values)) as FileHandle
  const own = handle as unknown as Record<string, Step>
  for (const name of ['writeFile', 'sync'] as const) own[name] = watched((own[name] as Step).bind(handle))
  return handle
})
syncBuiltinESMExports()
