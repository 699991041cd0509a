/** Texts that a scrubber reads: the values of these runs are hidden. */
import { defineTool } from '@witan/core'
import { z } from 'zod'
import type { Row } from '../support/row.ts'
import { open, run, saying, type Stage } from '../support/said.ts'

const hidden = 'employees/3'

/** What a text repeats. The first eight are made to keep the search for a hidden value busy. */
const pieces: Readonly<Record<string, string>> = {
  backslashes: '\\',
  'escapes of JSON': 'a\\nb\\t"\\u0041',
  ampersands: '&',
  'nearly the value, with an escape': 'employees\\/',
  'nearly the value, escaped for JSON': '\\u0065\\u006d\\u0070\\u006c',
  'nearly the value, escaped for a URL': '%65%6d%70',
  'nearly the value, escaped for HTML': '&#101;&#x6d;p',
  "the value's letters with unseen characters between": 'e\u200bm\u200bp\u200b',
  'the value, escaped for JSON': '\\u0065mployees\\/3 ',
  'the value, plain': 'employees/3',
  'marks of a cut text': ' [cut: 1 of 2 characters]',
  words: 'The quick brown fox says hello to employees. ',
}

function text(piece: string, length = 990_000): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
}

/** A run with hidden values. Its model reads again what it wrote, in a second step. */
function hiding(stage: Stage, values: Readonly<Record<string, string | readonly string[]>> = { key: hidden }): Stage {
  const parameters = Object.keys(values).map((name) => ({ name, secret: true, sendToModel: false }))
  return { ...stage, agent: { parameters, tools: ['tell'], ...stage.agent }, start: { parameters: values } }
}

/** A tool that returns a text. */
function telling(words: () => unknown) {
  return {
    tools: [
      defineTool({
        name: 'tell',
        description: 'Tells.',
        parameters: z.object({ about: z.string().optional() }),
        effect: 'none',
        execute: words,
      }),
    ],
  }
}

const call = { name: 'tell', arguments: '{}' }

const replies = Object.entries(pieces).map(
  ([what, piece]): Row => ({
    name: `a reply of 0.99 million characters beside a hidden value: ${what}`,
    setUp: (play) => {
      const long = text(piece)
      return run(
        play,
        hiding({
          script: (step) => (step === 0 ? { text: long, calls: [call] } : { text: 'Done.' }),
          options: telling(() => 'ok'),
        }),
      )
    },
  }),
)

const nearly = pieces['nearly the value, escaped for JSON'] as string

/** Answers that an export looks through for hidden values. */
const exported: Readonly<Record<string, readonly [says: () => string, agent?: Stage['agent']]>> = {
  '0.99 million escaped characters': [() => text(nearly)],
  '40,000 objects': [
    () => JSON.stringify({ items: Array.from({ length: 40_000 }, (_, id) => ({ id: `${id}` })) }),
    { outputSchema: { type: 'object' } },
  ],
}

/** Rows of texts. */
export const texts: readonly Row[] = [
  ...replies,
  ...Object.entries(exported).map(
    ([what, [says, agent = {}]]): Row => ({
      name: `an export of a conversation with an answer of ${what} beside three hidden values`,
      setUp: async (play) => {
        const values = { key: hidden, user: 'customers/17', token: 'sesame-street' }
        const stage = hiding({ script: () => ({ text: says() }), agent, options: telling(() => 'ok') }, values)
        const runtime = await open(play, stage)
        await (await runtime.start({ agent: 'root', id: 'chats/long', prompt: 'Go.', ...stage.start })).run?.result
        return async () => {
          for await (const line of runtime.exportConversation('chats/long')) void line
        }
      },
    }),
  ),
  {
    name: 'arguments of 0.98 million escaped characters beside a hidden value',
    setUp: (play) => {
      const written = JSON.stringify({ about: text(nearly, 490_000) })
      return run(
        play,
        hiding({
          script: (step) => (step === 0 ? { calls: [{ name: 'tell', arguments: written }] } : { text: 'Done.' }),
          options: telling(() => 'ok'),
        }),
      )
    },
  },
  {
    name: 'an answer of 0.99 million escaped characters at the end of a run',
    setUp: (play) => run(play, hiding({ script: () => ({ text: text(nearly) }), options: telling(() => 'ok') })),
  },
  {
    name: '16 results of 256,000 escaped characters in one reply beside a hidden value',
    setUp: (play) => {
      const long = text(nearly, 256_000)
      return run(
        play,
        hiding({
          script: (step) => (step === 0 ? { calls: Array.from({ length: 16 }, () => call) } : { text: 'Done.' }),
          options: telling(() => long),
        }),
      )
    },
  },
  {
    name: 'a result of 200,000 escaped characters in a list beside a hidden value',
    setUp: (play) => {
      const long = Array.from({ length: 20 }, () => text(nearly, 5_000))
      return run(
        play,
        hiding({
          script: (step) => (step === 0 ? { calls: [call] } : { text: 'Done.' }),
          options: telling(() => long),
        }),
      )
    },
  },
  {
    name: 'a hidden value of 99,000 characters',
    setUp: (play) =>
      run(
        play,
        hiding(
          { script: (step) => (step === 0 ? { calls: [call] } : { text: 'Done.' }), options: telling(() => 'ok') },
          { key: text(`${play.number}${hidden} `, 99_000) },
        ),
      ),
  },
  {
    name: 'a value of 99,000 characters that is hidden from a sub-agent only',
    setUp: (play) => {
      const key = { name: 'key', secret: true, sendToModel: false }
      const leaf = { id: 'leaf', model: 'play/leaf', instructions: 'You help.', parameters: [key] }
      const asking = { name: 'leaf', arguments: JSON.stringify({ message: 'Go.' }) }
      return run(play, {
        script: (step) => (step === 0 ? { calls: [asking] } : { text: 'Done.' }),
        agent: { subAgents: [{ agent: 'leaf' }] },
        options: { agents: [leaf], models: { 'play/leaf': saying('play/leaf', () => ({ text: 'Done.' })) } },
        start: { parameters: { key: text(`${play.number}${hidden} `, 99_000) } },
      })
    },
  },
]
