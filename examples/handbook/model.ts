/** A model that follows rules, so that the example runs offline: it searches with the question, and quotes the last line of the best passage. */
import type { Model } from '@witan/core'
import { call, lastUserMessage, scriptedModel, toolResults } from '@witan/core/testing'

interface Found {
  readonly passages?: readonly { readonly id: string; readonly text: string }[]
}

export const quoting: Model = scriptedModel(
  (request) => {
    const isAsked = request.messages.at(-1)?.role === 'user'
    if (isAsked) {
      const tool = request.tools.find(({ name }) => name !== 'search_knowledge')
      if (tool !== undefined && /contract|notice/i.test(lastUserMessage(request)))
        return call(tool.name, { message: lastUserMessage(request) })
      return call('search_knowledge', { query: lastUserMessage(request) })
    }
    const result = toolResults(request).at(-1) ?? '{}'
    const { passages = [] } = result.startsWith('{') ? (JSON.parse(result) as Found) : {}
    const [best] = passages
    if (best === undefined) return result.startsWith('{') ? 'The documents do not say.' : result
    const [last = ''] = best.text.trim().split('\n').slice(-1)
    return `${last} [${best.id}]`
  },
  { id: 'demo/quoting' },
)
