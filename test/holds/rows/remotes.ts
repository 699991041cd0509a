/** What an agent on another server sends, from its A2A server to the agent that called it. */
import { createRemoteCaller, createSafeFetch } from '@witan/core/tooling'
import type { Script } from '../support/outside.ts'
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'

const stream = 'text/event-stream'
const thirty = 30_000_000

/** As many of a piece as fit into so many characters. */
const filled = (piece: string, length: number) => ({ piece, times: Math.floor(length / piece.length) })

const rpc = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
const frame = (result: object) => `data: ${rpc(result)}\n\n`
const task = (state: string, more: object = {}) =>
  frame({ task: { id: 't', contextId: 'c', status: { state: `TASK_STATE_${state}` }, ...more } })
const begun = task('WORKING')
const end = frame({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } })
const chunk = (parts: readonly object[], more: object = {}) =>
  frame({ artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts }, ...more } })
const parted = chunk([{ text: '@@' }], { append: true }).split('@@') as [string, string]
const status = frame({ statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } })

/** A frame of an answer whose only data part is `head`, then a piece this many times, then `tail`. */
const data = (
  head: string,
  { piece, times }: { readonly piece: string; readonly times: number },
  tail: string,
): Script => {
  const [before = '', after = ''] = chunk([{ data: '@@' }]).split('"@@"')
  return { type: stream, head: `${begun}${before}${head}`, piece, times, tail: `${tail}${after}${end}` }
}

const asked = (parts: readonly object[]) => ({
  head: frame({
    task: {
      ...{ id: 't', contextId: 'c' },
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { messageId: 'm', role: 'ROLE_AGENT', parts } },
    },
  }),
  type: stream,
})

const bodies: Readonly<Record<string, Script>> = {
  'a plain answer of 30 MB of brackets': { ...filled('[', thirty) },
  'a plain answer of 40 MB': { head: '{"result":"', ...filled('a b ', 40_000_000), tail: '"}' },
  'a frame of 30 MB of brackets': { type: stream, head: `${begun}data: `, ...filled('[', thirty), tail: '\n\n' },
  'a frame of 40 MB': { type: stream, head: `${begun}data: `, ...filled('a b ', 40_000_000), tail: '\n\n' },
  'a stream of 60 MB of line ends': { type: stream, head: begun, ...filled('\r\n', 60_000_000), tail: end },
  'a stream of 60 MB of comments': { type: stream, head: begun, ...filled(':\n', 60_000_000), tail: end },
  'a stream of 30 MB of empty data lines': {
    type: stream,
    head: `${begun}data: {\n`,
    ...filled('data:\n', thirty),
    tail: `data: }\n\n${end}`,
  },
  'a stream of 30 MB of lines that end no document': {
    type: stream,
    head: `${begun}data: {\n`,
    ...filled('data: ]\n', thirty),
    tail: `\n\n${end}`,
  },
  'an answer of 30 MB of text in one frame': {
    type: stream,
    head: begun + parted[0],
    ...filled('a b ', thirty),
    tail: parted[1] + end,
  },
  'an answer of 30 MB of text in frames of 4 kB': {
    type: stream,
    head: begun,
    piece: parted.join('a b '.repeat(1_000)),
    times: 7_500,
    tail: end,
  },
  'an answer of 30 MB of text that begins again in each frame': {
    type: stream,
    head: begun,
    piece: chunk([{ text: 'a b '.repeat(250_000) }]),
    times: 28,
    tail: end,
  },
  'an answer in 60,000 pieces': { type: stream, head: begun, piece: parted.join('a b '), times: 60_000, tail: end },
  'an answer in 60,000 pieces, each of which begins again': {
    type: stream,
    head: begun,
    piece: chunk([{ text: 'a b ' }]),
    times: 60_000,
    tail: end,
  },
  'two artifacts in turn, 30,000 times': {
    type: stream,
    head: begun + chunk([{ text: 'a b '.repeat(100_000) }]),
    piece:
      frame({ artifactUpdate: { taskId: 't', append: true, artifact: { artifactId: 'b', parts: [{ text: 'a' }] } } }) +
      chunk([{ text: 'b' }], { append: true }),
    times: 30_000,
    tail: end,
  },
  '9,000 parts of an artifact, 30 times': {
    type: stream,
    head: begun,
    piece: chunk(Array(9_000).fill({ text: 'a' })),
    times: 30,
    tail: end,
  },
  '4,900 artifacts, 30 times': {
    type: stream,
    head: begun,
    piece: task('WORKING', {
      artifacts: Array.from({ length: 4_900 }, (_, at) => ({ artifactId: `a${at}`, parts: [{ text: 'a' }] })),
    }),
    times: 30,
    tail: end,
  },
  '60,000 states': { type: stream, head: begun, piece: status, times: 60_000, tail: end },
  'data of 99,000 values': data('[', { piece: '{},', times: 99_000 }, '{}]'),
  'data of 9,900 keys': data(
    '{',
    { piece: Array.from({ length: 9_900 }, (_, at) => `"k${at}":0,`).join(''), times: 1 },
    '"a":0}',
  ),
  'data of 30 MB of text': data('"', filled('a b ', thirty), '"'),
  'data of 6 MB of escapes': data('"', filled('\\u0041', 6_000_000), '"'),
  'data of 30 MB of brackets in a text': data('"', filled('[{', thirty), '"'),
  'a file of 16 MB': {
    type: stream,
    head: `${begun}${chunk([{ raw: '@@' }]).split('@@')[0]}`,
    piece: 'QUJD',
    times: 5_592_404,
    tail: chunk([{ raw: '@@' }]).split('@@')[1] + end,
  },
  '3,000 files': {
    type: stream,
    head: begun,
    piece: chunk(
      Array.from({ length: 3_000 }, (_, at) => ({ raw: 'QUJD', filename: `${at}.txt`, mediaType: 'text/plain' })),
    ),
    times: 1,
    tail: end,
  },
  '9,000 fields that A2A does not have': {
    type: stream,
    head: begun,
    piece: frame({ ...Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, 0])) }),
    times: 10,
    tail: end,
  },
  '9,000 questions': asked([
    {
      data: {
        type: 'question',
        id: 'q',
        questions: Array(9_000).fill({
          id: 'a',
          text: 'Which?',
          options: [],
          multiple: false,
          freeText: true,
          required: true,
        }),
      },
    },
  ]),
  'a question of 30 MB': asked([{ text: 'a b '.repeat(7_000_000) }]),
  'a condition of 20 MB': asked([
    { data: { type: 'policy', state: 's', policy: { kind: 'consent_required', message: 'a b '.repeat(5_000_000) } } },
  ]),
  '9,000 conditions': asked(
    Array(9_000).fill({ data: { type: 'policy', state: 's', policy: { kind: 'consent_required', message: 'a' } } }),
  ),
  'a failure in words of 30 MB': {
    type: stream,
    head: frame({
      task: {
        id: 't',
        contextId: 'c',
        status: {
          state: 'TASK_STATE_FAILED',
          message: { messageId: 'm', parts: [{ text: 'a b '.repeat(7_000_000) }] },
        },
      },
    }),
  },
  'an error in words of 30 MB': { head: '{"error":{"code":1,"message":"', ...filled('a b ', thirty), tail: '"}}' },
  'an error with 90,000 details': {
    head: '{"error":{"code":1,"message":"a","data":[',
    piece: '{},',
    times: 90_000,
    tail: '{}]}}',
  },
  'a stream of 40 MB that is compressed, as it says': { type: stream, head: begun, ...filled('\x1f\x8b', 40_000_000) },
}

const remote = { name: 'docs', address: '@docs@b.test', description: 'Knows.' }

/** Rows of agents on other servers. */
export const remotes: readonly Row[] = Object.entries(bodies).map(([name, script]) => ({
  name: `an agent elsewhere sends ${name}`,
  setUp: async (play) => {
    const url = await play.outside.serve({ '*': script })
    const { open } = createSafeFetch({ resolve: { 'b.test': url } })
    const endpoint = {
      url: 'https://b.test/',
      binding: 'JSONRPC',
      tenant: null,
      isStreaming: true,
      isIdempotent: false,
    } as const
    const caller = createRemoteCaller(
      {
        find: async () => ({ ok: true, endpoint, notice: null }),
        sign: async () => ({ bearer: null, metadata: {}, extensions: [] }),
        ...{ sharesBudget: () => false, passesIssuers: () => false },
        newId: () => 'id',
        clock: {
          now: () => performance.now(),
          after: (ms, then) => {
            const timer = setTimeout(then, ms)
            return () => clearTimeout(timer)
          },
        },
        fetch: open,
      },
      () => undefined,
    )
    return run(play, {
      script: (step) =>
        step === 0 ? { calls: [{ name: 'docs', arguments: '{"message":"Find it."}' }] } : { text: 'Done.' },
      agent: { remotes: [remote] },
      options: { remotes: caller },
    })
  },
}))
