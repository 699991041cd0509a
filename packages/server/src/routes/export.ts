/** The export of one conversation, for a replay of it. */
import { textBytes } from '@witan/core/tooling'
import { pieceBytes } from '../paced.ts'
import { conversationId, defineRoute, type Route } from '../route.ts'

/** Everything that a replay of a conversation needs. */
export const exportRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/export',
    name: 'exportConversation',
    tag: 'conversations',
    summary: 'Everything that a replay of a conversation needs, without hidden values. For admins.',
    answers: {
      200: {
        schema: null,
        isBytes: true,
        description:
          'JSON lines, as `application/x-ndjson`: definitions, log and files. Without the last line, `end`, it is not complete.',
      },
    },
    handle: async (call) => {
      const lines = call.witan.exportConversation(conversationId(call))[Symbol.asyncIterator]()
      const first = await lines.next() // a reply that has begun can no longer answer with an error status
      const headers = {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="conversation.jsonl"',
        'cache-control': 'private, no-store',
      }
      return { status: 200, bytes: chunksOf(lines, first), headers }
    },
  }),
]

/** The lines in chunks: many short ones together, a long one alone. */
async function* chunksOf(
  lines: AsyncIterator<string>,
  first: IteratorResult<string>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let text = ''
  for (let line = first; line.done !== true; line = await lines.next()) {
    text += `${line.value}\n`
    if (text.length < pieceBytes) continue
    yield await textBytes(text)
    text = ''
  }
  if (text !== '') yield await textBytes(text)
}
