/** The tools of memory through the conformance kit of tools. */
import { describe } from 'node:test'
import type { BlockRow, BlockWrite } from '../../memory/records.ts'
import { memoryTools } from '../../tool/kinds/memory.ts'
import { testTool } from './tool.ts'
import type { ToolHarness, ToolUnderTest } from './tool-harness.ts'

/** Blocks of one owner, of which each call writes one. */
function open(): ToolUnderTest {
  const written = new Map<string, BlockRow>()
  const rowOf = ({ owner, id, key, text, at, by }: BlockWrite): BlockRow => {
    const made = { createdAt: at, updatedAt: at, writtenBy: by, revision: 1 }
    return { ...owner, id, kind: 'core', key, text, ...made }
  }
  const blocks = {
    readBlocks: async () => [...written.values()],
    noteBlockUse: async () => {},
    writeBlock: async (_: string, write: BlockWrite) => {
      const block = written.get(write.call ?? '') ?? rowOf(write)
      written.set(write.call ?? '', block)
      return { ok: true, revision: 1, block } as const
    },
  }
  return { source: memoryTools({ blocks, now: () => 0 }), effects: () => [...written.keys()] }
}

const agent = { id: 'clerk', memory: {}, parameters: [{ name: 'tenant' }] }

const remember: ToolHarness = {
  ...{ name: 'remembering', tool: 'remember', agent, open },
  fitting: [{ arguments: { key: 'food', text: 'Fish.' }, comesTo: 'result' }],
  unfitting: [
    {},
    { key: 'Food', text: 'x' },
    { key: 'food' },
    { key: 'food', text: 3 },
    { key: 'a', text: 'x', kind: 'y' },
  ],
}

const recall: ToolHarness = {
  ...{ name: 'recalling', tool: 'recall', agent, open },
  fitting: [{ arguments: { query: 'fish' }, comesTo: 'result' }],
  unfitting: [{}, { query: ' ' }, { query: 3 }],
}

describe('memory', () => {
  for (const harness of [remember, recall]) testTool(harness)
})
