/**
 * Sixteen clients ask for a conversation of 36 MB and read nothing. Each holds what is being written to it and what was read ahead, not what
 * it asked for.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openApart } from '../support/apart.ts'
import type { Grown, Unread } from '../support/unread-server.ts'

const clients = 16

/** What one client holds, at most: a page, what is written of it, and what is not collected yet. Without a bound it is 14 MB and more. */
const each = 10_000_000

const asked: Readonly<Record<string, Omit<Unread, 'clients'>>> = {
  'an export': { path: '/api/v1/conversations/chats:long/export', accept: '*/*', forMs: 8_000 },
  'a page of the document': {
    path: '/api/v1/documents/chats/long?detail=full&limit=200',
    accept: 'application/json',
    forMs: 3_000,
  },
  'a page of events': {
    path: '/api/v1/conversations/chats:long/events?verbose=true',
    accept: 'application/json',
    forMs: 3_000,
  },
  'a stream of events': {
    path: '/api/v1/conversations/chats:long/events?verbose=true',
    accept: 'text/event-stream',
    forMs: 8_000,
  },
}

const server = import.meta.resolve('../support/unread-server.ts')

describe('sixteen clients that read nothing', () => {
  for (const [what, one] of Object.entries(asked))
    test(`of ${what}`, async (context) => {
      const apart = openApart()
      try {
        const { mostRss, heldAtEnd, status } = await apart.run<Grown>(server, 'grow', { ...one, clients })
        context.diagnostic(`${Math.round(heldAtEnd / 1e6)} MB held, ${Math.round(mostRss / 1e6)} MB more memory`)
        assert.equal(status, 200)
        assert.ok(heldAtEnd <= clients * each, `${heldAtEnd} bytes are held`)
      } finally {
        apart.close()
      }
    })
})
