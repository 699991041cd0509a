/** Artifacts: the files that agents made, and what each was made from. */
import { artifactSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { fileReply, isKnown } from '../file-reply.ts'
import { conversationId, defineRoute, param, type Route } from '../route.ts'
import { given, pageOf, pageQuery } from './paging.ts'

const tag = 'artifacts'

/** The artifacts of a conversation, and everything under /api/v1/artifacts. */
export const artifactRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/artifacts',
    name: 'listArtifacts',
    tag,
    summary: 'Lists the artifacts of a conversation, in the order in which they were made.',
    query: z.strictObject({
      ...pageQuery,
      run: z.string().max(200).optional().meta({ description: 'Only those of this run.' }),
      agent: z.string().max(200).optional().meta({ description: 'Only those that this agent made.' }),
    }),
    answers: { 200: { schema: pageOf(artifactSchema), description: 'A page of artifacts.' } },
    handle: async (call) => ({
      status: 200,
      body: await call.witan.artifacts.list(conversationId(call), given(call.query)),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/artifacts/{id}',
    name: 'getArtifact',
    tag,
    summary: 'An artifact: who made it, in which call, and from which others.',
    answers: { 200: { schema: artifactSchema, description: 'The artifact, without its content.' } },
    handle: async (call) => ({ status: 200, body: await call.witan.artifacts.get(param(call, 'id')) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/artifacts/{id}/content',
    name: 'getArtifactContent',
    tag,
    summary: 'The content of an artifact.',
    answers: {
      200: {
        schema: null,
        isBytes: true,
        description: 'Its bytes. A browser saves them and never shows or runs them.',
      },
      304: { schema: null, description: 'The same as `If-None-Match` names.' },
    },
    handle: async ({ witan, headers, ...call }) => {
      const { id, name, mediaType, digest } = await witan.artifacts.get(param(call, 'id'))
      const bytes = isKnown(headers, digest) ? new Uint8Array() : (await witan.artifacts.read(id)).bytes
      return fileReply({ name, mediaType, bytes }, { digest, headers, policy: 'sandbox' })
    },
  }),
]
