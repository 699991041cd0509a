/** The configuration that tortured servers run on; the rig says by the environment where store and ledger are. */
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

export default defineConfig({
  auth: { mode: 'none' },
  agents: [...worldAgents],
  tools: [...worldTools((deed, signal) => enter(ledger, deed, signal), zoo)],
  knowledge: [worldKnowledge],
  models: { 'play/model': model },
})
