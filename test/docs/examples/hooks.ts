/** Hooks that write down who pays what, keep payments small, and take a number out of an answer. */
import { createRuntime, defineAgent, defineHooks, defineTool } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { z } from 'zod'

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  parameters: z.object({ amount: z.number() }),
  execute: ({ amount }) => `paid ${amount}`,
})

const audit = defineHooks({
  name: 'audit',
  tools: ['pay'],
  beforeTool: ({ agentPath, tool, arguments: args }) => {
    console.log(`${agentPath} calls ${tool}`, args)
    return Number(args['amount']) > 100 ? { refuse: 'at most 100' } : undefined
  },
  afterRun: ({ text }) => ({ rewrite: { text: text.replace(/\d{4,}/g, '…') } }),
})

const clerk = defineAgent({
  id: 'clerk',
  instructions: 'Pay what is asked.',
  tools: [pay],
  hooks: ['audit'],
  model: scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1)?.content ?? ''
      if (last.includes('refused')) return 'I may pay at most 100, from account 12345678.'
      return { toolCalls: [{ name: 'pay', arguments: { amount: 500 } }] }
    },
    { id: 'demo/clerk' },
  ),
})

const runtime = createRuntime({ agents: [clerk], hooks: [audit] })
const chat = runtime.conversation('clerk')
const { text } = await chat.run('Pay 500.')
console.log(text)
const { events } = await runtime.readEvents(chat.id)
for (const { type, content } of events) if (type === 'hook') console.log(JSON.stringify(content))
await runtime.close()
