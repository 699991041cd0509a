/**
 * F11: servers die while actions, questions and approvals wait, in a tree, in a task, and in siblings at once. Answers come after that or
 * meanwhile, from several at once, at another server; or nobody answers, and it expires while no server is there.
 */
import type { Interruption } from '@witan/protocol'
import { type Arena, openArena } from '../rig/arena.ts'
import { answerTo } from '../rig/client.ts'
import { comesAbout } from '../rig/patience.ts'
import type { Row } from '../rig/row.ts'
import { together } from '../rig/score.ts'
import { tell, untilIdle } from '../rig/stories.ts'

type Manner = 'after' | 'during' | 'twice'

/** What waits, how it is answered, and how much waits. */
interface Waiting {
  readonly says: string
  readonly manner: Manner
  readonly open: number
}

const siblings = 'read pay+leaf:sign+mid:leaf:act+clerk:ask,book #1'

/** What waits beside each other when the servers die. */
const rounds: readonly (readonly Waiting[])[] = [
  [
    { says: 'read mid:leaf:act pay #1', manner: 'after', open: 1 },
    { says: 'read+pay mid:leaf:ask book #1', manner: 'during', open: 1 },
    { says: 'read+pay mid:leaf:sign book #1', manner: 'twice', open: 1 },
    { says: 'pay clerk:act,book read #1', manner: 'after', open: 1 },
    { says: siblings, manner: 'during', open: 3 },
  ],
  [
    { says: 'read mid:leaf:ask pay #1', manner: 'twice', open: 1 },
    { says: 'read+pay leaf:sign book #1', manner: 'during', open: 1 },
    { says: 'read+book leaf:act pay #1', manner: 'twice', open: 1 },
    { says: 'pay clerk:ask,book read #1', manner: 'during', open: 1 },
    { says: 'pay clerk:sign,book read #1', manner: 'twice', open: 1 },
    { says: siblings, manner: 'after', open: 3 },
  ],
]
const repeats = { pr: 2, full: 30 }
const expiring = { pr: 1, full: 10 }
const hasty = ['act', 'ask', 'sign']
const justBeforeMs = 30

export const restartWhileWaiting: Row = {
  id: 'F11',
  title: 'a restart while actions, questions and approvals wait',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane)
    for (let repeat = 0; repeat < repeats[profile]; repeat += 1) for (const round of rounds) await restart(arena, round)
    for (let repeat = 0; repeat < expiring[profile]; repeat += 1) await expire(arena)
    return arena.finish()
  },
}

/** Has all of it wait, kills a server, and has all of it answered. */
async function restart(arena: Arena, round: readonly Waiting[]): Promise<void> {
  const { crew, score } = arena
  const barrier = meeting(round.length)
  let killed: Promise<void> = Promise.resolve()
  await together(round, round.length, (waiting) =>
    score.trial(`"${waiting.says}" answered ${waiting.manner}`, async () => {
      score.intend()
      await tell(arena, async ({ client }, id) => {
        const open = await client
          .say(id, waiting.says)
          .then(() => untilOpen(arena, id, waiting.open))
          .finally(barrier.come)
        await barrier.met
        const before = await executionsOf(arena, id)
        if (barrier.isFirst()) {
          const server = await crew.first()
          killed = server.kill()
        }
        if (waiting.manner !== 'during') await killed
        score.fire()
        await Promise.all(open.map((one) => answer(arena, { id, one, isTwice: waiting.manner === 'twice' })))
        await killed
        await untilIdle(arena, id)
        const after = await executionsOf(arena, id)
        for (const [call, times] of before)
          if (after.get(call) !== times)
            score.fail('I8', `${id}: ${call} ran ${after.get(call)} times, ${times} before the answer`)
      })
    }),
  )
}

async function answer(
  { client, score }: Arena,
  { id, one, isTwice }: { readonly id: string; readonly one: Interruption; readonly isTwice: boolean },
): Promise<void> {
  const values = isTwice ? [0, 1, 2] : [0]
  const replies = await Promise.all(values.map((which) => client.answer(id, one.id, answerTo(one, which))))
  // Of three answers to a question with two choices two are the same, and the repeat is as good as the first.
  const accepted = new Set(
    replies.flatMap(({ status }, at) => (status < 300 ? [JSON.stringify(answerTo(one, at))] : [])),
  )
  if (accepted.size !== 1) score.fail('I8', `${accepted.size} different answers to ${one.id} were accepted`)
}

/** Nobody answers, and the time is over just when there is no server; whoever comes next ends the wait, and the run goes on. */
async function expire(arena: Arena): Promise<void> {
  const { crew, score, client } = arena
  const barrier = meeting(hasty.length)
  await together(hasty, hasty.length, (asks) =>
    score.trial(`${asks} expires while no server is there`, async () => {
      score.intend()
      await tell(arena, async (_, id) => {
        const [open] = await client
          .say(id, `read hasty:${asks} pay #1`)
          .then(() => untilOpen(arena, id, 1))
          .finally(barrier.come)
        await barrier.met
        if (barrier.isFirst()) {
          const dueAt = Date.parse(open?.expiresAt ?? '')
          await new Promise((resolve) => setTimeout(resolve, dueAt - justBeforeMs - Date.now()))
          await Promise.all(crew.servers.map((server) => server.kill()))
        }
        score.fire()
        await untilEnded(arena, id)
        const events = await client.events(id)
        const resolved = events.filter(({ type, content }) => type === 'resolved' && content['id'] === open?.id)
        const states = resolved.map(({ content }) => String(content['state']))
        if (states.join() !== 'expired') throw new Error(`${open?.id} is ${states.join(' and ') || 'open'}`)
        const late = await client.answer(id, open?.id ?? '', answerTo(open ?? { kind: 'action' }))
        if (late.status !== 410) score.fail('I8', `an answer that came too late got ${late.status}`)
      })
    }),
  )
}

/** What so many wait for until all of them have come, in whatever state. */
function meeting(wanted: number) {
  const { promise: met, resolve } = Promise.withResolvers<void>()
  let [came, asked] = [0, false]
  return {
    met,
    come: () => {
      came += 1
      if (came === wanted) resolve()
    },
    /** True for one of them. */
    isFirst() {
      const isFirst = !asked
      asked = true
      return isFirst
    },
  }
}

/** Until so much waits, and all that does not wait rests. */
async function untilOpen({ client }: Arena, id: string, wanted: number): Promise<readonly Interruption[]> {
  let open: readonly Interruption[] = []
  const isOpen = async () => {
    const { status, interruptions } = await client.look(id)
    open = interruptions
    return status !== 'running' && open.length >= wanted
  }
  if (await comesAbout(isOpen)) return open
  throw new Error(`${id} does not ask for ${wanted}`)
}

/** Until nothing waits or works any more, without an answer from here. */
async function untilEnded({ client }: Arena, id: string): Promise<void> {
  if (!(await comesAbout(async () => (await client.look(id)).status === 'idle')))
    throw new Error(`I9: ${id} still waits`)
}

/** How often each call of a conversation was executed, as the ledger has it. */
async function executionsOf({ ledger }: Arena, id: string): Promise<ReadonlyMap<string, number>> {
  const { executions } = await ledger.read()
  return new Map(
    executions.flatMap(({ conversation, callId, times }) => (conversation === id ? [[callId, times] as const] : [])),
  )
}
