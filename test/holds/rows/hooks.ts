/** What hooks see of long replies, arguments and results, and what they write. */
import { defineHooks, defineTool, type HooksDefinition } from '@witan/core'
import { z } from 'zod'
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'

/** A run that calls a tool with these arguments, whose hooks do this. */
function hooked(name: string, hooks: () => Omit<HooksDefinition, 'name'>, given: () => Given = () => ({})): Row {
  return {
    name: `hooks that ${name}`,
    setUp: async (play) => {
      const { calls = [{ name: 'tell', arguments: '{}' }], result = 'ok', parameters = [], values = {} } = given()
      const tell = defineTool({
        ...{ name: 'tell', description: 'Tells.', effect: 'none', parameters: z.looseObject({}) },
        execute: () => result,
      })
      return run(play, {
        script: (step) => (step === 0 ? { calls } : { text: 'Done.' }),
        agent: { tools: ['tell'], parameters },
        options: { tools: [tell], hooks: [defineHooks({ name: 'audit', ...hooks() })] },
        start: { parameters: values },
      })
    },
  }
}

interface Given {
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[]
  readonly result?: unknown
  readonly parameters?: { name: string; sendToModel: boolean }[]
  readonly values?: Readonly<Record<string, unknown>>
}

const hiding = { parameters: [{ name: 'code', sendToModel: false }], values: { code: 'sesame open' } }
const numbers = (count: number) => `{"list":[${Array.from({ length: count }, () => '1').join(',')}]}`
const calls = (count: number, args: string) => Array.from({ length: count }, () => ({ name: 'tell', arguments: args }))
const reads = (shown: object) => void JSON.stringify(Object.keys(shown))

export const hooksRows: readonly Row[] = [
  hooked(
    'see arguments of 450,000 numbers',
    () => ({ beforeTool: reads, afterTool: reads }),
    () => ({ calls: calls(1, numbers(450_000)) }),
  ),
  hooked(
    'see 128 calls of 20,000 numbers each',
    () => ({ beforeTool: reads }),
    () => ({ calls: calls(128, numbers(20_000)) }),
  ),
  hooked(
    'see a result of 100,000 objects',
    () => ({ afterTool: reads }),
    () => ({ result: Array.from({ length: 100_000 }, () => ({})) }),
  ),
  hooked('write a message of 1 million characters', () => ({
    beforeRun: () => ({ rewrite: { message: 'word '.repeat(200_000) } }),
  })),
  hooked(
    'write a reply of 1 million characters beside a hidden value',
    () => ({
      afterModel: ({ toolCalls }) => (toolCalls.length > 0 ? undefined : { rewrite: 'word '.repeat(200_000) }),
    }),
    () => hiding,
  ),
  hooked(
    'write arguments of 200,000 numbers beside a hidden value',
    () => ({ beforeTool: () => ({ rewrite: { arguments: { list: new Array(200_000).fill(1) } } }) }),
    () => hiding,
  ),
  hooked(
    'write a result of 3 million numbers beside a hidden value',
    () => ({ afterTool: () => ({ rewrite: { result: new Array(3_000_000).fill(1) } }) }),
    () => hiding,
  ),
  hooked('write a result that never ends', () => ({
    afterTool: () => {
      const endless: unknown = { toJSON: () => [1, endless] }
      return { rewrite: { result: endless } }
    },
  })),
  hooked('refuse with 20 million characters', () => ({ beforeTool: () => ({ refuse: 'a '.repeat(10_000_000) }) })),
  hooked('throw 20 million characters', () => ({
    beforeTool: () => {
      throw new Error('a '.repeat(10_000_000))
    },
  })),
]
