/** Family N: names. With aliases nobody's id, name or role reaches a model by any way of the runtime; and no words speak as another's. */
import type { Principal } from '@witan/core'
import { call, type Rule } from '@witan/core/testing'
import { fakeClock } from '../../support/clock.ts'
import { type AgentDraft, createStage, type Play, type Stage, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

const kinds = ['id', 'name', 'role'] as const
let number = 0

/** People whose ids, names and roles would be recognised anywhere. */
function crew() {
  number += 1
  const marks = [0, 1, 2].flatMap((index) => kinds.map((kind) => `n${number}${kind}${index}`))
  const people = [0, 1, 2].map((index) => {
    const [id = '', name = '', role = ''] = marks.slice(index * kinds.length).map(canary)
    return { id, name, roles: [role] }
  })
  return { people, scan: scannerOf(marks) }
}
type Person = ReturnType<typeof crew>['people'][number]

type Draft = Record<'revision' | 'source' | 'warnings' | 'modelKind', unknown>

interface Case {
  readonly of: Partial<AgentDraft>
  readonly others?: readonly AgentDraft[]
  readonly plays: Readonly<Record<string, Play>>
  /** What people do; how many requests of the agent may have names, if any. */
  act(stage: Stage): Promise<unknown>
}

const chat = 'chats/1'
const openOf = async (stage: Stage) => (await stage.runtime.getConversation(chat)).interruptions
const waits = (stage: Stage) => until(async () => (await openOf(stage)).length > 0)
const rests = (stage: Stage) => until(async () => (await stage.runtime.getConversation(chat)).status === 'idle')
const isTold: Rule = ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'noted' : '')
const asks =
  (user: string): Rule =>
  (request, turn) =>
    isTold(request, turn) || call('ask_user', { user, message: 'so?' })
const asksAll: Rule = (request, turn) => isTold(request, turn) || call('ask_all_users', { message: 'so?' })

async function say(stage: Stage, author: string, prompt = 'hello'): Promise<void> {
  await (await stage.runtime.run(chat, { prompt, author })).result
}

async function answerAll(stage: Stage, words = 'fine'): Promise<void> {
  await waits(stage)
  for (const { id } of await openOf(stage)) await stage.runtime.answerInterruption(id, { answer: words })
  await rests(stage)
}

const cases: Readonly<Record<string, (people: readonly Person[], clock: ReturnType<typeof fakeClock>) => Case>> = {
  'before words, and in descriptions': ([one, two]) => ({
    of: {},
    plays: { root: ['noted'] },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await say(stage, two?.id ?? '')
    },
  }),
  'in a reply': ([one]) => ({
    of: {},
    plays: { root: asks('guest-1') },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await answerAll(stage)
    },
  }),
  'in an error about a real name': ([one, two]) => ({
    of: {},
    plays: {
      // A hostile model guesses ids; what it wrote itself is not what the runtime wrote.
      root: ({ messages }) => (messages.length > 3 ? 'noted' : call('ask_user', { user: 'nobody', message: 'so?' })),
    },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await say(stage, two?.id ?? '')
    },
  }),
  'in the error of a silent one': ([one], clock) => ({
    of: { interruptionExpiresInSeconds: 5 },
    plays: { root: asks('guest-0') },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      clock.advance(6_000)
      await rests(stage)
    },
  }),
  'in the error of one who left': ([one, two]) => ({
    of: {},
    plays: { root: asks('guest-1') },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await stage.runtime.removeParticipant(chat, two?.id ?? '')
      await rests(stage)
      await say(stage, one?.id ?? '')
    },
  }),
  'in the replies of all': ([one]) => ({
    of: {},
    plays: { root: asksAll },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await answerAll(stage)
    },
  }),
  'of a role that answered': (people) => ({
    of: { users: [{ role: people[0]?.roles[0] ?? '' }] },
    plays: { root: asks('guest-0') },
    act: async (stage) => {
      await say(stage, people[1]?.id ?? '')
      const [open] = await openOf(stage)
      const who = {
        ...(stage.runtime.principal as Principal),
        id: `user:${people[2]?.id}`,
        roles: ['answer', ...(people[0]?.roles ?? [])],
      }
      await stage.runtime.as(who).answerInterruption(open?.id ?? '', { answer: 'I' })
      await rests(stage)
    },
  }),
  'from an agent that reads names': ([one]) => ({
    of: {},
    others: [{ id: 'front', users: 'participants', transfers: [{ agent: 'root' }] }],
    plays: {
      front: ({ messages, tools }) => {
        if (messages.at(-1)?.role === 'tool') return call('transfer_to_agent', { agent_name: 'root' })
        return tools.some(({ name }) => name === 'ask_all_users') ? call('ask_all_users', { message: 'so?' }) : 'noted'
      },
      root: ['noted'],
    },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await answerAll(stage)
    },
  }),
  'in a document that a child shares': ([one, two]) => ({
    of: {},
    others: [{ id: 'front', subAgents: [{ agent: 'root', history: 'shared' }] }],
    plays: {
      front: ({ messages }) => {
        if (messages.at(-1)?.role === 'tool') return 'noted'
        return messages.length > 2 ? call('root', { message: 'and?' }) : 'noted'
      },
      root: ['noted'],
    },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await say(stage, two?.id ?? '')
    },
  }),
  'in an earlier revision that had no aliases': ([one, two]) => ({
    of: { anonymizeUsers: null },
    plays: {
      root: ({ messages }) => (messages.length > 2 ? 'noted' : call('ask_user', { user: two?.id, message: 'so?' })),
    },
    act: async (stage) => {
      await say(stage, one?.id ?? '')
      await answerAll(stage)
      const read = stage.seenBy('root').length
      const { revision, source, warnings, modelKind, ...now } = (await stage.runtime.agents.get(
        'root',
      )) as never as Draft
      await stage.runtime.agents.save({ ...now, anonymizeUsers: 'guest' } as never)
      await say(stage, two?.id ?? '')
      return read
    },
  }),
}

/** Plays every case. */
export async function playPeople(ledger: Ledger): Promise<void> {
  for (const [name, make] of Object.entries(cases)) {
    const { people, scan } = crew()
    const clock = fakeClock()
    const { of, others = [], plays, act } = make(people, clock)
    ledger.begin(`a name ${name}`)
    const root: AgentDraft = { id: 'root', users: 'participants', anonymizeUsers: 'guest', ...of }
    const stage = createStage({ agents: [root, ...others], plays, options: { clock } })
    await stage.runtime.start({ agent: others[0]?.id ?? 'root', id: chat, users: people })
    const open = Number((await act(stage)) ?? 0)
    const events = await stage.events(chat)
    ledger.control('the log', scan(textOf(events)).size > 0)
    ledger.claim('the agent was asked', stage.seenBy('root').length > 0)
    for (const request of stage.seenBy('root').slice(open))
      ledger.deny('leak', 'a request of the agent', scan(textOf(request)))
    await stage.runtime.close()
  }
}
