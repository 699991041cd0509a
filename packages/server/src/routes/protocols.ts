/** Protocols as data: save, read, delete. */
import { WitanError } from '@witan/protocol'
import type { ProtocolInput } from '@witan/protocol/protocols'
import { protocolSchema, storedProtocolSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'
import { etag, ifMatch, refuseNew } from './revision.ts'

const tag = 'protocols'
const saved = { schema: storedProtocolSchema, description: 'The protocol as it is stored.' }

/** Everything under /api/v1/protocols. */
export const protocolRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/protocols',
    name: 'listProtocols',
    tag,
    summary: 'Lists the protocols.',
    query: z.strictObject(pageQuery),
    answers: { 200: { schema: pageOf(storedProtocolSchema), description: 'A page of protocols.' } },
    handle: async ({ witan, query }) => ({ status: 200, body: await witan.protocols.list(given(query)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/protocols/{name}',
    name: 'getProtocol',
    tag,
    summary: 'Reads one protocol; its revision is the ETag.',
    answers: { 200: saved },
    handle: async (call) => {
      const protocol = await call.witan.protocols.get(param(call, 'name'))
      return { status: 200, body: protocol, headers: etag(protocol.revision) }
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/protocols/{name}',
    name: 'saveProtocol',
    tag,
    summary: 'Creates or replaces a protocol; with `If-Match` only over that revision.',
    guarded: true,
    body: z.record(z.string(), z.unknown()),
    bodyDocument: protocolSchema,
    answers: { 200: saved, 201: { ...saved, description: 'The protocol is new.' } },
    handle: async (call) => {
      const name = param(call, 'name')
      if (call.body.name !== undefined && call.body.name !== name) throw wrongName(name)
      const called = `protocol \`${name}\``
      await refuseNew(call.headers, called, () => call.witan.protocols.get(name))
      const options = { ifRevision: ifMatch(call.headers, called) }
      const { protocol, created } = await call.witan.protocols.save({ ...call.body, name } as ProtocolInput, options)
      return { status: created ? 201 : 200, body: protocol, headers: etag(protocol.revision) }
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/v1/protocols/{name}',
    name: 'deleteProtocol',
    tag,
    summary: 'Deletes a protocol; refused while an agent speaks it.',
    guarded: true,
    answers: { 204: { schema: null, description: 'It is gone.' } },
    handle: async (call) => {
      const name = param(call, 'name')
      await call.witan.protocols.delete(name, { ifRevision: ifMatch(call.headers, `protocol \`${name}\``) })
      return { status: 204 }
    },
  }),
]

function wrongName(name: string): WitanError {
  const hint = 'Leave `name` out of the body, or make both the same.'
  const detail = `The body names a different protocol than the path, which has \`${name.slice(0, 80)}\`.`
  return new WitanError('ID_INVALID', detail, { path: 'name', hint })
}
