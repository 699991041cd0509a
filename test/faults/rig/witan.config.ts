/** The configuration that tortured servers run on; the rig says by the environment where store and ledger are. */
import { fileURLToPath } from 'node:url'
import type { Model } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { defineConfig } from '@witan/server'
import { enter } from './ledger.ts'
import { atLarge, paidFor, worldAgents, worldKnowledge, worldScript, worldTools, zoo } from './world.ts'

const ledger = process.env['TORTURE_LEDGER']
if (ledger === undefined) throw new Error('TORTURE_LEDGER is not set')

const scripted = scriptedModel(worldScript, { sleep: atLarge })
/** What a provider would be paid for: every call that begins, also one that is broken off. */
const model: Model = {
  id: scripted.id,
  stream(request, options) {
    const conversation = paidFor(request)
    const deed = { tool: 'model', effect: 'none', callId: crypto.randomUUID() } as const
    if (conversation !== null) enter(ledger, { ...deed, conversation }, AbortSignal.timeout(5_000)).catch(() => {})
    return scripted.stream(request, options)
  },
}

/** Those who ask an MCP server for its tools each time that they begin. */
const listing = ['mid', 'leaf']

export default defineConfig({
  auth: { mode: 'none' },
  agents: worldAgents.map((one) => (listing.includes(one.id) ? { ...one, mcp: [{ server: 'box' }] } : one)),
  mcpServers: { box: { command: process.execPath, args: [fileURLToPath(new URL('box.ts', import.meta.url))] } },
  tools: [...worldTools((deed, signal) => enter(ledger, deed, signal), zoo)],
  knowledge: [worldKnowledge],
  models: { 'play/model': model },
})
