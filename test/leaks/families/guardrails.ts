/**
 * Family GR: guardrails. An agent that checks what another reads or says sees no value that is hidden from that one, in whatever disguise, and no notice, event
 * or error says what was found.
 */
import { memoryStore } from '@witan/core'
import { call } from '@witan/core/testing'
import { createStage } from '../../support/stage.ts'
import { canary, encodings, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

const hiding = { sendToModel: false, secret: true, policy: 'forbidModelGeneration' as const }
const judge = { name: 'judge', kind: 'agent', agent: 'judge' } as const
const found = (action: 'refuse' | 'redact' | 'flag', of: string) =>
  ({ name: 'found', kind: 'pattern', pattern: of, action }) as const

/** Plays every case. */
export async function playGuardrails(ledger: Ledger): Promise<void> {
  let number = 0
  for (const [encoding, encode] of Object.entries(encodings)) {
    ledger.begin(`a hidden value that a parent writes, and that an agent says, as ${encoding}`)
    const [hidden, own] = [`gr${++number}`, `gr${++number}`]
    const text = `${canary(own)} ${encode(canary(hidden))}`
    const stage = createStage({
      agents: [
        { id: 'root', parameters: [{ name: 'code' }], subAgents: [{ agent: 'shut' }] },
        { id: 'shut', parameters: [{ name: 'code', ...hiding }], guardrails: { input: [judge], output: [judge] } },
        { id: 'judge' },
      ],
      plays: { root: [call('shut', { message: text }), 'done'], shut: [text], judge: () => '{"allow":true}' },
      options: { store: memoryStore() },
    })
    await stage.ask('root', 'Go.', { id: 'chats/1', parameters: { code: canary(hidden) } })
    const [scan, scanOwn] = [scannerOf([hidden]), scannerOf([own])]
    const read = textOf(stage.seenBy('judge').map(({ messages }) => messages))
    ledger.control('the check', scanOwn(read).size > 0 && stage.seenBy('judge').length === 2)
    ledger.deny('leak', 'what the checking agent read', scan(read))
    await stage.runtime.close()
  }
  for (const action of ['refuse', 'redact', 'flag'] as const)
    for (const side of ['input', 'output'] as const) {
      ledger.begin(`what was found, and ${action} in ${side}`)
      const own = `gr${++number}`
      const stage = createStage({
        agents: [{ id: 'root', guardrails: { [side]: [found(action, `${canary(own).slice(0, 6)}\\S+`)] } }],
        plays: { root: [`I say ${canary(own)}.`, `Still ${canary(own)}.`] },
        options: { store: memoryStore() },
      })
      const prompt = side === 'input' ? `Go ${canary(own)}.` : 'Go.'
      const result = await stage.ask('root', prompt, { id: 'chats/1' })
      const events = await stage.events('chats/1', { verbose: true })
      const notices = events.filter(({ content }) => (content as { code?: string }).code === 'GUARDRAIL_HIT')
      const scan = scannerOf([own])
      ledger.control('the hit', notices.length > 0)
      ledger.deny('leak', 'the notices', scan(textOf(notices)))
      ledger.deny('leak', 'the error', scan(textOf(result.error)))
      ledger.deny('leak', 'what is reported', scan(textOf(stage.reports.map(String))))
      const isFree = action === 'flag' || side === 'input'
      if (!isFree) ledger.deny('leak', 'all that readers get', scan(textOf([events, await stage.document('chats/1')])))
      await stage.runtime.close()
    }
}
