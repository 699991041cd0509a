/** A summary stands in a document that other agents may read, so it is made without what only the agent that searched reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, type ModelRequest } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'

const secret = 'PERIWINKLE'
const trim = { kind: 'summarize', maxTokensBefore: 60, maxTokensAfter: 50 } as const

for (const retrieval of ['tool', 'auto'] as const)
  test(`[F02] [F39] [Rb38] what was found by ${retrieval} is in no summary, and so in no shared history`, async () => {
    const read: string[] = []
    const summarized: string[] = []
    let turn = retrieval === 'tool' ? 0 : 1
    const model = scriptedModel(
      (request: ModelRequest) => {
        const all = JSON.stringify(request.messages)
        if (request.tools.length === 0) {
          summarized.push(all)
          return `They spoke. ${/PERIWINKLE/.exec(all)?.[0] ?? ''}`
        }
        turn += 1
        if (turn === 1) return call('search_knowledge', { query: 'notice period' })
        if (turn === 2) {
          assert.match(all, /PERIWINKLE/)
          return `I will not tell. ${'It is long. '.repeat(60)}`
        }
        const other = request.tools.find(({ name }) => name.includes('other'))
        return turn === 3 && other !== undefined ? call(other.name, { message: 'hello there' }) : 'done'
      },
      { id: 'play/root' },
    )
    const other = defineAgent({
      id: 'other',
      instructions: 'Chat.',
      model: scriptedModel(
        (request) => {
          read.push(JSON.stringify(request.messages))
          return 'ok'
        },
        { id: 'play/other' },
      ),
    })
    const root = defineAgent({
      id: 'root',
      instructions: 'Answer.',
      model,
      parameters: [{ name: 'customer', sendToModel: false, policy: 'forbidModelGeneration' }],
      knowledgeBases: [{ id: 'contracts', filter: { customer: 'customer' }, retrieval }],
      history: { trim },
      subAgents: [{ agent: 'other', history: 'shared' }],
    })
    const runtime = createRuntime({
      knowledge: [{ id: 'contracts', attributes: { customer: 'string' }, requiredFilters: ['customer'] }],
      agents: [root, other],
    })
    await runtime.knowledge.documents.ingest('contracts', {
      documents: [{ key: 'a', text: `The notice period is ${secret}.`, attributes: { customer: 'alpha' } }],
    })
    const chat = runtime.conversation('root', { parameters: { customer: 'alpha' } })
    await chat.run('What is the notice period?')
    await chat.run('Now talk to the other.')
    await runtime.close()
    assert.equal(summarized.length, 1, 'the history was not summarized')
    assert.equal(read.length, 1, 'the other agent was not asked')
    for (const text of [...summarized, ...read]) assert.doesNotMatch(text, /PERIWINKLE/)
    assert.match(summarized[0] ?? '', /I will not tell/)
  })
