/** What a model server sends, through the adapter for servers that speak OpenAI's form. */
import { openaiCompatible } from '@witan/core'
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'
import type { Script } from '../support/outside.ts'

const nine = 9_000_000
const stream = 'text/event-stream'
const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`

/** As many of a piece as fit into so many characters. */
const filled = (piece: string, length: number) => ({ piece, times: Math.floor(length / piece.length) })

const delta = (value: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: value }] })}\n\n`
const call = (more: object) => delta({ tool_calls: [more] })

const text = '{"choices":[{"finish_reason":"stop","message":{"content":"'
const textEnd = '"}}]}'
const list = (count: number, one: (at: number) => string) => Array.from({ length: count }, (_, at) => one(at)).join()

const bodies: Readonly<Record<string, Script>> = {
  'a plain answer of 9 MB of empty `choices`': { head: '{"choices":[{}', ...filled(',{}', nine), tail: ']}' },
  'one document of a stream with 9 MB of empty `choices`': {
    type: stream,
    head: 'data: {"choices":[{}',
    ...filled(',{}', nine),
    tail: `]}\n\n${end}`,
  },
  'a stream of 9 MB of documents with empty `choices`': {
    type: stream,
    ...filled('data: {"choices":[{}]}\n\n', nine),
    tail: end,
  },
  'a stream of 20 MB of documents without anything': { type: stream, ...filled('data: {}\n', 20_000_000), tail: end },
  'a plain answer of 9 MB of brackets': { ...filled('[', nine) },
  'a stream of 9 MB of brackets': { type: stream, head: 'data: ', ...filled('[', nine), tail: `\n\n${end}` },
  'a stream of 9 MB of line ends': { type: stream, ...filled('\r\n', nine), tail: end },
  'a stream of 9 MB of comments': { type: stream, ...filled(':\n', nine), tail: end },
  'a stream of 9 MB of lines that end no document': {
    type: stream,
    head: 'data: {\n',
    ...filled('data: ]\n', nine),
    tail: end,
  },
  'a stream of 9 MB of empty data lines': { type: stream, head: 'data: {\n', ...filled('data:\n', nine), tail: end },
  'a plain answer of 9 MB of keys': { head: '{"choices":[{"a":{', piece: '"":0,', times: 1_800_000, tail: '"b":1}}]}' },
  'a plain answer of 9 MB of numbers': { head: '{"choices":[', ...filled('1e9,', nine), tail: '1]}' },
  'a plain answer of 9 MB of one number': { head: '{"choices":[', ...filled('1', nine), tail: ']}' },
  'a plain answer of 9 MB of numbers of 20 digits': {
    head: '{"choices":[',
    ...filled('98765432109876543211,', nine),
    tail: '1]}',
  },
  'a plain answer of 9 MB of long keys': {
    head: `{"choices":[{"a":{`,
    ...filled(`"${'a'.repeat(400)}":0,`, nine),
    tail: '"b":1}}]}',
  },
  'a plain answer of 9,900 objects, each with a key of its own': {
    head: '{"choices":[',
    piece: list(9_900, (at) => `{"k${at}":1e400}`),
    times: 1,
    tail: ']}',
  },
  'a plain answer of 99,000 infinite numbers': { head: '{"choices":[', piece: '1e400,', times: 99_000, tail: '1]}' },
  'a plain answer of 45,000 lists in one another': { piece: '['.repeat(45_000), times: 1, tail: ']'.repeat(45_000) },
  'a plain answer of 9 MB of lists in one another': {
    piece: '['.repeat(4_500_000),
    times: 1,
    tail: ']'.repeat(4_500_000),
  },
  'a plain answer of 9 MB of commas in a text': { head: text, ...filled(',', nine), tail: textEnd },
  'a plain answer of 9 MB of escaped quotes': { head: text, ...filled('\\"', nine), tail: textEnd },
  'a plain answer of 9 MB of escaped backslashes': { head: text, ...filled('\\\\', nine), tail: textEnd },
  'a plain answer of 9 MB of escaped letters': { head: text, ...filled('\\u0041', nine), tail: textEnd },
  'a plain answer of 6 MB of escaped backslashes': { head: text, ...filled('\\\\', 6_000_000), tail: textEnd },
  'a plain answer with a text of 4 MB': { head: text, ...filled('The quick brown fox. ', 4_000_000), tail: textEnd },
  '9,900 calls of tools in one document': {
    head: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[',
    piece: '{"index":0,"id":"a","type":"function","function":{"name":"no_such","arguments":"{}"}},',
    times: 9_900,
    tail: '{}]}}]}',
  },
  'a plain answer of 9 MB of white space': { head: '{', ...filled(' ', nine), tail: '}' },
  'a stream whose only line has 6 MB of escapes': {
    type: stream,
    head: 'data: {"choices":[{"delta":{"content":"',
    ...filled('\\u0041', 6_000_000),
    tail: `"}}]}\n\n${end}`,
  },
  'an answer of 900,000 parts of text': {
    head: '{"choices":[{"finish_reason":"stop","message":{"content":[',
    piece: '{},',
    times: 900_000,
    tail: '{}]}}]}',
  },
  '60,000 calls of tools in one document': {
    head: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[',
    piece: '{"id":"a","function":{"name":"no_such","arguments":"{}"}},',
    times: 60_000,
    tail: '{}]}}]}',
  },
  '60,000 calls of tools in a stream': {
    type: stream,
    piece: call({ id: 'a', function: { name: 'no_such', arguments: '{}' } }),
    times: 60_000,
    tail: end,
  },
  'arguments in 200,000 pieces': {
    type: stream,
    head: call({ index: 0, id: 'a', function: { name: 'no_such', arguments: '{"a":"' } }),
    piece: call({ index: 0, function: { arguments: 'aaaa' } }),
    times: 200_000,
    tail: end,
  },
  'a call of 90,000 characters that begins again in 5,000 pieces': {
    type: stream,
    head: call({ index: 0, id: 'a', function: { name: 'no_such', arguments: `{"a":[${'0,'.repeat(45_000)}{}` } }),
    piece: call({ index: 0, function: { name: 'no_such', arguments: '{}' } }),
    times: 5_000,
    tail: end,
  },
  'thoughts of 30 documents of 9,900 keys each': {
    type: stream,
    head: Array.from({ length: 30 }, (_, page) =>
      delta({
        reasoning_details: [
          {
            index: 0,
            type: 'reasoning.text',
            ...Object.fromEntries(Array.from({ length: 9_900 }, (_, at) => [`k${page}x${at}`, 0])),
          },
        ],
      }),
    ).join(''),
    tail: end,
  },
  'thoughts of 60 MB': {
    type: stream,
    piece: delta({ reasoning_content: 'a b '.repeat(2_000) }),
    times: 7_300,
    tail: end,
  },
  'details of thoughts of 60 MB': {
    type: stream,
    piece: delta({ reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'a b '.repeat(2_000) }] }),
    times: 7_300,
    tail: end,
  },
  '60,000 details of thoughts': {
    type: stream,
    head: Array.from({ length: 600 }, (_, page) =>
      delta({
        reasoning_details: Array.from({ length: 100 }, (_, at) => ({
          index: page * 100 + at,
          type: 'reasoning.text',
          text: 'a',
        })),
      }),
    ).join(''),
    tail: end,
  },
  'a name of a model of 9 MB': {
    head: '{"model":"',
    ...filled('a b ', nine),
    tail: '","choices":[{"finish_reason":"stop","message":{"content":"Done."}}]}',
  },
  'a reason to end of 9 MB': {
    head: '{"choices":[{"message":{"content":"Done."},"finish_reason":"',
    ...filled('a b ', nine),
    tail: '"}]}',
  },
  'an id of a call of 9 MB': {
    head: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"function":{"name":"no_such","arguments":"{}"},"id":"',
    ...filled('a b ', nine),
    tail: '"}]}}]}',
  },
  'a name of a tool of 9 MB': {
    head: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"arguments":"{}","name":"',
    ...filled('a b ', nine),
    tail: '"}}]}}]}',
  },
  '100 names of tools of 90 kB': {
    head: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[',
    piece: `{"id":"a","function":{"arguments":"{}","name":"${'a b '.repeat(22_000)}"}},`,
    times: 100,
    tail: '{}]}}]}',
  },
  'arguments of a call as an object of 9,900 keys': {
    head: `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"no_such","arguments":{${list(9_900, (at) => `"k${at}":0`)}}}}]}}]}`,
  },
  'notes at a call of 9 MB': {
    head: '{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"no_such","arguments":"{}"},"extra_content":{"a":"',
    ...filled('a b ', nine),
    tail: '"}}]}}]}',
  },
  'a refusal of 9 MB': {
    head: '{"choices":[{"finish_reason":"stop","message":{"refusal":"',
    ...filled('a b ', nine),
    tail: '"}}]}',
  },
  'a text in 200,000 pieces': { type: stream, piece: delta({ content: 'a b ' }), times: 200_000, tail: end },
  'an error of 60,000 brackets': { status: 400, ...filled('[', 60_000) },
  'an error of 9 MB': { status: 400, head: '{"error":{"message":"', ...filled('a ', nine), tail: '"}}' },
  'an error object of 9 MB in a reply': { head: '{"error":{"message":"', ...filled('a ', nine), tail: '"}}' },
  'a web page of 9 MB': { type: 'text/html', head: '<html>', ...filled('<p>', nine) },
  'text of 9 MB that is no JSON': { ...filled('a \n', nine) },
}

/** Rows of replies of a model server. */
export const replies: readonly Row[] = Object.entries(bodies).map(([name, script]) => ({
  name: `a model server sends ${name}`,
  setUp: async (play) => {
    const url = await play.outside.serve({ '*': script })
    const model = openaiCompatible({ baseUrl: `${url}/v1`, model: 'm', id: 'play/far' })
    return run(play, {
      script: () => ({}),
      agent: { model: 'play/far', limits: { maxIterations: 2 } },
      options: { models: { 'play/far': model } },
    })
  },
}))
