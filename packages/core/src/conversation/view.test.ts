/** A view that is rendered in pieces, held against the same view rendered at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { agentSchema } from '@witan/protocol/schemas'
import { scrubberOfValues } from '../parameter/scrub.ts'
import type { Reply, Said } from './said.ts'
import type { AgentCall } from './state.ts'
import type { SharedHistory } from './shared-history.ts'
import { historyOf, modelView, rendering } from './view.ts'

const system = { role: 'system', content: 'You help.' } as const
const reader = agentSchema.parse({ id: 'ann', model: 'play/ann', instructions: 'You help.' })
const hides = scrubberOfValues(['employees/3'])

const agent = fc.constantFrom('ann', 'ben')
const scrub = fc.constantFrom(null, hides)
/** A long text takes a piece of its own. */
const text = fc.oneof(
  fc.constantFrom('', 'see employees/3', '[from @root to @ann] Go.'),
  fc.string({ maxLength: 12 }),
  fc.integer({ min: 9_000, max: 13_000 }).map((times) => 'long text '.repeat(times)),
)
const words = fc.record({
  kind: fc.constant('words' as const),
  author: fc.constantFrom('user', 'ben'),
  to: agent,
  text,
  isAttributed: fc.boolean(),
  isScrubbed: fc.boolean(),
  scrub,
})
/** A reply, and the results of its calls behind it. */
const exchange = fc
  .record({ agent, to: fc.constant('user'), text, scrub, results: fc.array(text, { maxLength: 4 }) })
  .map(({ results, ...more }): Said[] => {
    const calls = results.map((_, index) => ({ id: `${index}`, name: `tool_${index % 2}`, arguments: '{}' }))
    const reply: Reply = { kind: 'reply', ...more, calls }
    const read = results.map((content, index) => ({
      toolCallId: `${index}`,
      name: `tool_${index % 2}`,
      content,
      scrub: null,
    }))
    return read.length === 0 ? [reply] : [reply, { kind: 'results', of: reply, results: read }]
  })
const documents = fc
  .array(
    fc.oneof(
      words.map((one): Said[] => [one]),
      exchange,
    ),
    { maxLength: 12 },
  )
  .map((all) => all.flat())

/** A call of `ann` with only the fields that a view reads. */
function callOf(
  said: readonly Said[],
  more: Pick<AgentCall, 'scrub' | 'scrubOthers' | 'handOver' | 'shared'>,
): AgentCall {
  const document = { said: [...said], views: [], inbox: [], callStarts: [] }
  return { agent: reader, unseen: '', firstSaid: 0, document, ...more } as unknown as AgentCall
}

function readBy(call: AgentCall): unknown {
  const { messages, indexOf } = historyOf(call)
  return { messages, starts: call.document.said.map((_, place) => indexOf(place)), view: modelView(call, system) }
}

test('a view that is rendered in pieces, while more is said and others look at it, is the one that is rendered at once', async (context) => {
  let pieces = 0
  const drawn = fc.record({
    said: documents,
    later: documents,
    before: documents,
    isShared: fc.boolean(),
    history: fc.constantFrom(null, 'all' as const, 'words' as const),
    scrub,
    looks: fc.array(fc.boolean(), { maxLength: 6 }),
  })
  const expected = await holds(
    context,
    fc.property(drawn, ({ said, later, before, isShared, history, scrub: scrubOthers, looks }) => {
      const shared = (): SharedHistory => {
        const others = new Set(['tool_1'])
        return { said: before, from: 0, upTo: before.length, others, scrub: scrubOthers, naming: reader }
      }
      const open = () =>
        callOf(said, {
          scrub: hides,
          scrubOthers,
          handOver: history === null ? null : { history, returns: false },
          shared: isShared ? shared() : null,
        })
      const call = open()
      const rest = [...later]
      for (let work = rendering(call), turn = 0; work.next().done !== true; turn += 1) {
        pieces += 1
        if (looks[turn] === true) historyOf(call)
        call.document.said.push(...rest.splice(0, 1))
      }
      call.document.said.push(...rest)
      const atOnce = open()
      atOnce.document.said.push(...later)
      assert.deepEqual(readBy(call), readBy(atOnce))
    }),
    80,
  )
  assert.ok(pieces > expected(80), `${pieces} pieces`)
})
