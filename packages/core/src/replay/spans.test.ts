/** P16: of a replayed run every span is the same to the byte, in both forms. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import type { Entry } from '@witan/protocol/entries'
import { scriptedModel } from '@witan/core/testing'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import {
  definedBy,
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
} from '../../../../test/support/random-system.ts'
import { isOfRandomHook } from '../../../../test/support/random-hooks.ts'
import { rewordedSource } from '../../../../test/support/reworded.ts'
import { written } from '../../../../test/support/stage.ts'
import { fakeClock } from '../../../../test/support/clock.ts'
import type { AgentLookup } from '../conversation/fold.ts'
import { encoderOf } from '../telemetry/otlp.ts'
import { createProjection } from '../telemetry/projection.ts'
import { SpanLabels } from '../telemetry/span-label.ts'
import { readReplaySource } from './prepare.ts'
import { type ReplaySource, replay } from './replay.ts'

/** The spans of all jobs as bytes. Times are positions in the log: those of a replay are its own. */
function spansOf(entries: readonly Entry[], agents: AgentLookup): string {
  const source = { database: 'default', conversation: 'chats/1', agents }
  const labels = new SpanLabels(true)
  const encoders = [encoderOf('http/json'), encoderOf('http/protobuf')]
  const jobs = [
    ...new Set(
      entries
        .filter(({ type, kind, job, place }) => type === 'start' && kind === 'agent' && place.call === job)
        .map(({ job }) => job),
    ),
  ]
  return jobs
    .flatMap((job) => {
      const projection = createProjection(job, source, { content: null, labels })
      for (const entry of entries) if (entry.job === job) projection.take({ ...entry, at: entry.seq * 1000 })
      return projection.spans().flatMap((span) =>
        encoders.map((encoder) => {
          encoder.add(span)
          return Buffer.from(encoder.take().data as string).toString('hex')
        }),
      )
    })
    .join('\n')
}

function lookupIn({ definitions }: ReplaySource): AgentLookup {
  return (id, revision) =>
    definitions.find((one) => one.id === id)?.revisions.find((one) => one.revision === revision)?.data as never
}

async function played(system: RandomSystem): Promise<ReplaySource> {
  const model = scriptedModel(randomPlay(system.seed))
  const runtime = createRuntime({
    clock: fakeClock(),
    models: { 'play/model': model },
    agents: system.agents.map(written),
    tools: [note],
    ...definedBy(system),
    report: (error) => void (isOfRandomHook(error) || console.error(error)),
    retry: { tries: 1 },
    store: memoryStore(),
  })
  const opened = await runtime.start({ agent: 'a', prompt: 'go', id: 'chats/1', parameters: givenTo(system) })
  if (opened.run === null) throw new Error('a start with a prompt gave no run')
  await toTheEnd(runtime, await opened.run.result)
  const source = await readReplaySource(runtime.exportConversation('chats/1'))
  await runtime.close()
  return source
}

test('[P16] [Tb29] the spans of a replayed run are the same, byte for byte, and so are their trace ids', async (context) => {
  let conversations = 0
  let entries = 0
  let ms = 0
  let spans = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const source = await played(system)
    const from = performance.now()
    const { store, difference, ...report } = await replay(source)
    ms += performance.now() - from
    assert.equal(difference, null)
    const again = (await store.readSnapshot('default', 'chats/1'))?.entries ?? []
    const before = spansOf(source.whole.entries, lookupIn(source))
    assert.equal(spansOf(again, lookupIn(source)), before)
    assert.equal(spansOf(rewordedSource(source).whole.entries, lookupIn(source)), before, 'with other words')
    assert.ok(report.runs.every(({ traceId }) => before.includes(traceId)))
    conversations += 1
    entries += report.entries
    spans += before.split('\n').length / 2
  })
  await holds(context, property, 60)
  context.diagnostic(
    `${conversations} conversations, ${entries} entries, ${spans} spans, ${Math.round(ms)} ms of replay`,
  )
  assert.ok(spans > conversations, 'hardly a span came up')
})
