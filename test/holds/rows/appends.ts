/** Replies whose entries a store appends in one transaction. */
import { defineTool } from '@witan/core'
import { z } from 'zod'
import { stores } from '../support/long.ts'
import type { Row } from '../support/row.ts'
import { run, runsAtOnce, saying, type Stage } from '../support/said.ts'

const action = { name: 'tell', description: 'Does.', parametersSample: { text: 'x' } }

/** A tool without arguments that returns a text. */
const telling = (text: string) =>
  defineTool({ name: 'tell', description: 'Tells.', effect: 'none', parameters: z.object({}), execute: () => text })

/** So many calls in one reply, with these arguments. */
function calling(count: number, args: object, { agent = { tools: ['tell'] }, options = {} }: Partial<Stage>): Stage {
  const calls = Array.from({ length: count }, () => ({ name: 'tell', arguments: JSON.stringify(args) }))
  return { script: (step) => (step === 0 ? { calls } : { text: 'Done.' }), agent, options }
}

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]))

/** An agent that answers with a text, as often as the root asks it in one reply. */
function answering(count: number, text: string): Stage {
  const calls = Array.from({ length: count }, (_, at) => ({ name: 'leaf', arguments: `{"message":"Go ${at}."}` }))
  return {
    script: (step) => (step === 0 ? { calls } : { text: 'Done.' }),
    agent: { subAgents: [{ agent: 'leaf' }] },
    options: {
      models: { 'play/leaf': saying('play/leaf', () => ({ text })) },
      agents: [{ id: 'leaf', model: 'play/leaf', instructions: 'You tell.' }],
    },
  }
}

/** By what a model says and what comes of it. */
const stages: Readonly<Record<string, () => Stage>> = {
  '128 calls of an action with 7,000 characters each': () =>
    calling(128, { text: 'a\\n'.repeat(2_300) }, { agent: { actions: [action] } }),
  '128 calls with 700 arguments each that the tool does not list': () =>
    calling(128, keys(700), { options: { tools: [telling('ok')] } }),
  '128 calls of a tool that returns 256,000 characters': () =>
    calling(128, {}, { options: { tools: [telling('a '.repeat(128_000))] } }),
  '60 agents asked that answer with 0.99 million characters each': () => answering(60, 'a '.repeat(495_000)),
  'a text of 0.99 million line ends': () => ({ script: () => ({ text: '\n'.repeat(990_000) }) }),
}

/** So many runs at once, each with an answer of so many characters: their commits and checkpoints come in a row. */
function answers(kind: string, count: number, characters: number): Row {
  return {
    name: `${count} runs at once, each with an answer of ${characters.toLocaleString('en')} characters, stored by ${kind}`,
    setUp: async (play) => {
      const store = await stores[kind]?.(play)
      const options = store === undefined ? {} : { store }
      return runsAtOnce(play, { script: () => ({ text: 'a '.repeat(characters / 2) }), options }, count)
    },
  }
}

/** Rows of appends. */
export const appends: readonly Row[] = ['SQLite', 'PostgreSQL'].flatMap((kind) => [
  answers(kind, 60, 990_000),
  answers(kind, 150, 400_000),
  ...Object.entries(stages).map(
    ([what, stage]): Row => ({
      name: `${what} in one reply, stored by ${kind}`,
      setUp: async (play) => {
        const store = await stores[kind]?.(play)
        const { options, ...more } = stage()
        return run(play, { ...more, options: { ...options, ...(store === undefined ? {} : { store }) } })
      },
    }),
  ),
])
