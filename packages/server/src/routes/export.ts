/** The export of one conversation, for a replay of it. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { conversationId, defineRoute, type Route } from '../route.ts'

/** How many lines are written before other requests get their turn. */
const linesPerTurn = 128
/** After a longer one, such as a file, they get it at once; in characters. */
const longLine = 65_536

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
        description: 'JSON lines, as `application/x-ndjson`: definitions, log and files.',
      },
    },
    handle: async (call) => {
      const lines: Uint8Array[] = []
      for await (const line of call.witan.exportConversation(conversationId(call))) {
        lines.push(Buffer.from(`${line}\n`))
        if (lines.length % linesPerTurn === 0 || line.length > longLine) await nextTurn()
      }
      const headers = {
        'content-type': 'application/x-ndjson',
        'content-disposition': 'attachment; filename="conversation.jsonl"',
        'cache-control': 'private, no-store',
      }
      return { status: 200, bytes: new Uint8Array(Buffer.concat(lines)), headers }
    },
  }),
]
