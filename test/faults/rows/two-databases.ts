/** TEN: two databases with conversations of the same ids, worked for by the same servers while these die; neither reads a word of the other. */
import type { Conversation } from '@witan/protocol'
import { type Arena, openArena } from '../rig/arena.ts'
import type { Client } from '../rig/client.ts'
import { defaultDatabase } from '../rig/databases.ts'
import { heard } from '../rig/patience.ts'
import type { Row } from '../rig/row.ts'
import { together } from '../rig/score.ts'
import { untilIdle } from '../rig/stories.ts'
import { worldAgents } from '../rig/world.ts'

const trials = { pr: 3, full: 30 }
const other = 'other'
const wordOf = (database: string): string => `cny_of_${database}_k5r8v2x7m1q9w4z6`
const canaries = [defaultDatabase, other].map((tenant) => ({ value: wordOf(tenant), tenant }))

export const twoDatabases: Row = {
  id: 'TEN',
  title: 'two databases beside each other, while their servers die',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { other: { name: other, canaries } })
    const { score, crew, client, history, neighbour } = arena
    // What code defines is of the default database alone.
    await neighbour.saveAgents(worldAgents.map((one) => ({ ...one, knowledgeBases: [] })))
    const both = [
      { own: client, database: defaultDatabase },
      { own: neighbour, database: other },
    ]
    for (let trial = 0; trial < trials[profile]; trial += 1) {
      await score.trial('two databases', async () => {
        const id = arena.fresh()
        score.intend()
        const told = together(both, both.length, ({ own, database }) => converse(arena, { own, database, id }))
        await heard(history, 1 + 8 * (trial % 3), told)
        await (await crew.first()).kill()
        score.fire()
        const met = await told
        // What the other database calls its own is for this one as if it had never been.
        await together(both, both.length, ({ own, database }, index) =>
          pry({ arena, own, database }, met[1 - index] ?? []),
        )
      })
    }
    for (const { value, tenant } of canaries)
      if (!arena.readings.some(({ tenant: reader, text }) => reader === tenant && text.includes(value)))
        score.fail('I17', `${tenant} never read its own word`)
    return arena.finish()
  },
}

interface Side {
  readonly own: Client
  readonly database: string
}

/** Tells a story with a word of the database's own, reads everything of it, and gives the paths it met. */
async function converse(
  arena: Arena,
  { own, database, id }: Side & { readonly id: string },
): Promise<readonly string[]> {
  await own.open(id)
  const stop = own.follow(id)
  const run = await own.say(id, `pay read+book mid:leaf:act leaf:ask clerk:book #${wordOf(database)}`)
  const found = await own.untilRest(id)
  await untilIdle({ ...arena, client: own }, id)
  await stop()
  const paths = [`/api/v1/runs/${run}`, ...pathsOf(found)]
  const name = encodeURIComponent(id)
  const lists = ['conversations', 'interruptions', 'tasks', 'agents'].map((list) => `/api/v1/${list}`)
  const documents = [id, `${id}/mid`, `${id}/leaf`].map((document) => `/api/v1/documents/${document}`)
  for (const path of [
    ...lists,
    ...documents,
    ...paths,
    `/api/v1/conversations/${name}`,
    `/api/v1/conversations/${name}/events?verbose=true`,
  ])
    arena.readings.push({ sink: path, tenant: database, text: await own.read(path) })
  return paths
}

function pathsOf({ tasks }: Conversation): readonly string[] {
  return tasks.map(({ taskId }) => `/api/v1/tasks/${taskId}`)
}

/** Reads what is the other's: it is not there. */
async function pry(
  { arena, own, database }: Side & { readonly arena: Arena },
  foreign: readonly string[],
): Promise<void> {
  for (const path of foreign) {
    const text = await own.read(path)
    arena.readings.push({ sink: `the other's ${path}`, tenant: database, text })
    if (!text.startsWith('404 ')) arena.score.fail('I14', `${path} is there for ${database}, too: ${text.slice(0, 80)}`)
  }
}
