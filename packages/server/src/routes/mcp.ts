/** The MCP servers of the configuration: what each offers, and asking one anew. */
import { mcpServerSchema } from '@witan/protocol/tools'
import { z } from 'zod'
import { defineRoute, param, type Route } from '../route.ts'

/** Everything under /api/v1/mcp. */
export const mcpRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/mcp/servers',
    name: 'listMcpServers',
    tag: 'agents',
    summary: 'Lists the MCP servers of the configuration as this process knows them. Connects to none.',
    answers: { 200: { schema: z.object({ items: z.array(mcpServerSchema) }), description: 'The servers, by name.' } },
    handle: async ({ witan }) => ({ status: 200, body: { items: await witan.mcp.list() } }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/mcp/servers/{name}/refresh',
    name: 'refreshMcpServer',
    tag: 'agents',
    summary: 'Connects to an MCP server and asks for its tools anew.',
    answers: { 200: { schema: mcpServerSchema, description: 'The server as it is now.' } },
    async handle(call) {
      const { witan, halt, log } = call
      const name = param(call, 'name')
      log('info', 'an MCP server is asked anew', { principal: witan.principal.id, server: name })
      return { status: 200, body: await witan.mcp.refresh(name, { signal: halt }) }
    },
  }),
]
