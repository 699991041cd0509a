/** Every frame of a stream stays below 4 MiB, whatever an answer and its history are, and together they are the whole answer. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OwnMessage, OwnRun, OwnRuns } from '@witan/core/tooling'
import { framesOf } from './frames.ts'
import { type AnswerModes, anyModes } from './modes.ts'
import type { StreamFrame, WirePart } from './wire.ts'

const most = 4 * 1_048_576
const escapes = '\u0001'.repeat(900_000)
const wide = '語'.repeat(990_000)

interface Long {
  readonly text: string
  readonly output?: unknown
  readonly modes?: AnswerModes
  readonly history?: string
}

const rows: Readonly<Record<string, Long>> = {
  'a text of escapes': { text: escapes },
  'a text of escapes for who takes data alone': { text: escapes, modes: { text: false, data: true } },
  'a text of signs of three bytes': { text: wide },
  'a form, as text and as data': { text: JSON.stringify([wide]), output: [wide] },
  'a form for who takes text alone': { text: '', output: [wide], modes: { text: true, data: false } },
  'a text and a history that are long together': {
    text: escapes.slice(0, 499_000),
    history: escapes.slice(0, 499_000),
  },
}

const never = { sealFor: async () => () => '', withUsage: false, own: {} as OwnRuns }

async function framesFor({ text, output = null, modes = anyModes, history }: Long): Promise<readonly StreamFrame[]> {
  const place = { runId: 'r', conversationId: 'a2a/1', agent: 'docs', changedAt: 1, cursor: '1~r' }
  const run: OwnRun = { ...place, status: 'completed', result: { text, output, error: null }, usage: null, asked: [] }
  const said: OwnMessage[] = history === undefined ? [] : [{ by: 'caller', seq: 1, id: 'm', text: history }]
  const followed = { ...never, run, history: said, settled: Promise.resolve(run), modes }
  const frames: StreamFrame[] = []
  for await (const frame of framesOf(followed as never, new AbortController().signal)) frames.push(frame)
  return frames
}

function partsIn(frames: readonly StreamFrame[]): readonly WirePart[] {
  return frames.flatMap((frame) =>
    'task' in frame
      ? (frame.task.artifacts ?? []).flatMap(({ parts }) => parts)
      : 'artifactUpdate' in frame
        ? frame.artifactUpdate.artifact.parts
        : [],
  )
}

describe('a long answer in frames', () => {
  for (const [name, long] of Object.entries(rows))
    test(name, async () => {
      const frames = await framesFor(long)
      for (const frame of frames) assert.ok(Buffer.byteLength(JSON.stringify(frame)) < most, name)
      const parts = partsIn(frames)
      const words = parts.map((part) => ('text' in part ? part.text : '')).join('')
      const data = parts.flatMap((part) => ('data' in part ? [part.data] : []))
      const { text, output, modes = anyModes } = long
      assert.ok(words === (text === '' ? JSON.stringify(output) : text), 'the whole text')
      assert.equal(data.length, output !== undefined && modes.data ? 1 : 0)
      const last = frames.findLast((frame) => 'artifactUpdate' in frame)
      assert.ok(last === undefined || ('artifactUpdate' in last && last.artifactUpdate.lastChunk))
    })
})
