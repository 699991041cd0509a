/** What clients do in a trial: each story is the same whatever happens to the servers meanwhile. */
import type { Conversation } from '@witan/protocol'
import type { Arena } from './arena.ts'
import { answerAll } from './client.ts'
import { comesAbout, patienceMs } from './patience.ts'

/** Tells a story in a conversation of its own, to the end. */
export type Story = (arena: Arena, id: string) => Promise<void>

/** So many runs with every kind of effect, at every depth, and an action that waits for the client in each. */
export function mainRuns(runs: number): Story {
  return async (arena, id) => {
    for (let part = 1; part <= runs; part += 1) {
      await arena.client.say(id, `pay read+book mid:leaf:act leaf:book #${part}`)
      await untilIdle(arena, id)
    }
  }
}

/** Three of these. */
export const mainStory = mainRuns(3)

/** Answers whatever is asked until the conversation is idle and no task is at work. */
export async function untilIdle({ client }: Arena, id: string): Promise<void> {
  // A task whose owner died waits for the lease to lapse: the time counts, not how often one looks.
  for (const until = Date.now() + patienceMs; Date.now() < until; ) {
    const { interruptions, ...first } = await client.untilRest(id)
    // The end of a task may have begun a run just between what one look shows: a second one sees it.
    if (isOver(first) && isOver(await client.look(id))) return
    await answerAll(client, id, interruptions)
    if (interruptions.length === 0) await new Promise((resolve) => setTimeout(resolve, 30))
  }
  throw new Error(`I9: ${id} does not come to its end`)
}

function isOver({ status, tasks }: Pick<Conversation, 'status' | 'tasks'>): boolean {
  return status === 'idle' && tasks.length === 0
}

/** Three runs that wait for the client, and are cancelled. */
export const cancelStory: Story = async ({ client }, id) => {
  for (const part of [1, 2, 3]) {
    const run = await client.say(id, `read mid:leaf:act #${part}`)
    const { status } = await client.untilRest(id)
    if (status === 'waiting') await client.cancel(id, run)
    await client.untilRest(id)
  }
}

/** Three runs that take some heartbeats each; `begun` is told of each when it is at work. */
export function slowRuns(begun: (part: number) => void): Story {
  return async ({ client }, id) => {
    for (const part of [1, 2, 3]) {
      await client.say(id, `read #think120 #${part}`)
      begun(part)
      await client.untilRest(id)
    }
  }
}

/** Just these. */
export const slowStory = slowRuns(() => {})

/** One run that takes several heartbeats in any case. */
export const longStory: Story = async ({ client }, id) => {
  await client.say(id, 'read #think1200')
  await client.untilRest(id)
}

/** Three runs with work in the background, whose end is told by a hidden run. */
export const taskStory: Story = async (arena, id) => {
  for (const part of [1, 2, 3]) {
    await arena.client.say(id, `clerk:book read #${part}`)
    await untilIdle(arena, id)
  }
}

/** One run that asks the client to act, who lets the time for it pass. */
export const hastyStory: Story = async ({ client }, id) => {
  await client.say(id, 'hasty:act read #1')
  const isIdle = async () => (await client.look(id)).status === 'idle'
  if (!(await comesAbout(isIdle, 100))) throw new Error(`I9: ${id} waits for an answer whose time is over`)
}

/** One run with one effect of each class, and then all at once. */
export const effectStory: Story = async ({ client }, id) => {
  await client.say(id, 'pay book read pay+book+read #1')
  await client.untilRest(id)
}

/** Tells a story, reading along all the while. */
export async function tell(arena: Arena, story: Story): Promise<string> {
  const id = arena.fresh()
  await arena.client.open(id)
  const stop = arena.client.follow(id)
  await story(arena, id).finally(stop)
  return id
}
