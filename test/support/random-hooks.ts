/** Hooks that do random things: what each does depends only on what it sees, so a run can be repeated. */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { defineHooks, type Hooks, type HooksDefinition } from '@witan/core'
import { hookPoints } from '@witan/protocol/entries'

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate()
}

type Point = (typeof hookPoints)[number]

/** What a hook sees, without what differs between two runs of the same. */
function shownOf(point: Point, seen: Readonly<Record<string, unknown>>): string {
  const { agentPath, message, text, tool, arguments: args, result, error, toolCalls, messages, interruption } = seen
  const calls = (toolCalls as readonly { readonly name: string; readonly arguments: string }[] | undefined)?.map(
    ({ name, arguments: written }) => [name, written],
  )
  const { kind } = (interruption ?? {}) as { readonly kind?: string }
  const last = (messages as readonly { readonly content: string }[] | undefined)?.at(-1)?.content
  return JSON.stringify([point, agentPath, message, text, tool, args, result, error, calls, last, kind]).replace(
    /art_[0-9a-v]{26}/g,
    'art',
  )
}

const word = (dice: Buffer) => `checked ${(dice[3] ?? 0) % 3}`

/** What a hook writes at each point; undefined where it can write nothing. */
const writes: Readonly<Record<Point, (seen: Readonly<Record<string, unknown>>, dice: Buffer) => unknown>> = {
  beforeRun: ({ message }, dice) => ({ message: `${String(message)} ${word(dice)}` }),
  beforeModel: (_, dice) => ({ note: word(dice) }),
  afterModel: ({ text }, dice) => ({ text: `${String(text)} ${word(dice)}` }),
  beforeTool: ({ arguments: args }) => ({ arguments: args }),
  onInterruption: () => undefined,
  afterTool: (_, dice) => ({ result: { of: word(dice) } }),
  afterRun: ({ text }, dice) => ({ text: `${String(text)} ${word(dice)}` }),
}

/** Of what a hook sees it lets most pass; it refuses, rewrites or fails at the rest, at once or after a while. */
function hookAt(point: Point, seed: number) {
  return (shown: object): unknown => {
    const seen = shown as Readonly<Record<string, unknown>>
    const dice = createHash('sha256')
      .update(`${seed} ${shownOf(point, seen)}`)
      .digest()
    const kind = (dice[0] ?? 0) % 48
    const answer = () => {
      if (kind === 0) return { refuse: word(dice) }
      if (kind === 1) throw new Error('the hook is down')
      const written = kind < 10 ? writes[point](seen, dice) : undefined
      return written === undefined ? undefined : { rewrite: written }
    }
    if ((dice[1] ?? 0) % 2 === 0) return answer()
    return turns((dice[2] ?? 0) % 3).then(answer)
  }
}

/** Two that are asked at every point: one refuses where it fails, and the other allows. None for two of three seeds. */
export function randomHooks(seed: number): readonly Hooks[] {
  if (seed % 3 !== 0) return []
  const all = (own: number) =>
    Object.fromEntries(hookPoints.map((point) => [point, hookAt(point, own)])) as Omit<HooksDefinition, 'name'>
  return [
    defineHooks({ name: 'first', onError: 'allow', ...all(seed) }),
    defineHooks({ name: 'second', ...all(seed + 1), agents: ['a', 'b', 'c'] }),
  ]
}

/** Whether what a runtime reports is that one of them failed, or wrote what cannot be taken. */
export function isOfRandomHook(error: unknown): boolean {
  return error instanceof Error && /^Hook `(first|second)` failed at /.test(error.message)
}
