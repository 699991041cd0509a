/** API keys over HTTP: create, list, revoke. */
import type { ApiKey, CreatedKey, KeyRequest } from '@witan/protocol/keys'
import { ClientError } from './error.ts'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { segment, type Transport } from './transport.ts'

/** The API keys of the database that the token picks. Only for admins. */
export interface Keys {
  /** Creates a key. Its reply is the only one that has `key`. */
  create(request?: KeyRequest): Promise<CreatedKey>
  /** One page, the latest first. */
  list(query?: PageQuery): Promise<Page<ApiKey>>
  /** Every key, page after page. */
  all(query?: PageQuery): AsyncGenerator<ApiKey, void, undefined>
  /** Revokes a key: within five seconds every process of the server refuses it. Throws `NOT_FOUND`. */
  revoke(keyId: string): Promise<void>
}

/** A repeat of a request whose reply was lost is answered without the key. */
type Made = Omit<CreatedKey, 'key'> & { readonly key: string | null }

/** The key calls over one transport. */
export function keyCalls(transport: Transport): Keys {
  const path = '/api/v1/keys'
  const list = (query: PageQuery = {}): Promise<Page<ApiKey>> => transport.json('GET', path, { query: { ...query } })
  const revoke = (keyId: string): Promise<void> => transport.json('DELETE', `${path}/${segment(keyId)}`)
  return {
    async create(request = {}) {
      const { key, ...about } = await transport.json<Made>('POST', path, { body: request })
      if (key !== null) return { ...about, key }
      await revoke(about.keyId)
      throw new ClientError('SERVER_UNREACHABLE', 'The reply with the new key was lost, and the key was revoked.', {
        hint: 'Create another one.',
      })
    },
    list,
    all: (query) => eachItem(list, query),
    revoke,
  }
}
