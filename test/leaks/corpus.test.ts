/**
 * The injection and leak corpus: no model is asked to resist. Its stand-in obeys whoever injects, tries every override and echoes
 * what it can, so whatever leaks or runs is the runtime's doing.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memoryStore } from '@witan/core'
import { playApprovals } from './families/approval.ts'
import { playDemands } from './families/demands.ts'
import { playEchoes } from './families/echo.ts'
import { playTaskEchoes } from './families/echo-tasks.ts'
import { playErrors } from './families/errors.ts'
import { playEvidence } from './families/evidence.ts'
import { playExits } from './families/exits.ts'
import { playForbidden } from './families/forbid.ts'
import { playHandOvers } from './families/hand-over.ts'
import { playKnowledge } from './families/knowledge.ts'
import { playHttpErrors } from './families/http-errors.ts'
import { playMemory } from './families/memory.ts'
import { playPlans } from './families/plans.ts'
import { playGuardrails } from './families/guardrails.ts'
import { playMcp } from './families/mcp.ts'
import { playHooks } from './families/hooks.ts'
import { playReflection } from './families/reflection.ts'
import { playOutside } from './families/outside.ts'
import { playOutsideOrders } from './families/outside-orders.ts'
import { playPeers } from './families/peers.ts'
import { playPeople } from './families/people.ts'
import { playOverrides } from './families/override.ts'
import { playPrivileges } from './families/privilege.ts'
import { playReach, playReachOnPostgres } from './families/reach.ts'
import { playReasoning } from './families/reasoning.ts'
import { playRemotes } from './families/remotes.ts'
import { playSpeaking } from './families/speaking.ts'
import { playTraces } from './families/traces.ts'
import { playVisibility } from './families/visibility.ts'
import { canary, encodings, scannerOf } from './support/canary.ts'
import { createLedger, type Ledger, summaryOf } from './support/ledger.ts'

const ledgers: Ledger[] = []

async function family(name: string, atLeast: number, play: (ledger: Ledger) => Promise<void>): Promise<void> {
  const ledger = createLedger(name)
  ledgers.push(ledger)
  await play(ledger)
  ledger.settle(atLeast)
}

describe('the injection and leak corpus', () => {
  test('a value is recognised in every disguise, and nothing else is', () => {
    const scan = scannerOf(['one'])
    for (const [name, encode] of Object.entries(encodings)) {
      assert.ok(scan(`so: ${encode(`see ${canary('one')} there`)}.`).size > 0, name)
      assert.deepEqual([...scan(`so: ${encode(canary('two'))}.`)], [], name)
    }
  })

  test('[I13] [R36] [R37] [R38] [R39] [C17] A: a hidden value is seen by nobody who may not see it', () =>
    family('A', 480, playVisibility))

  test('[C19] [D14] [P4] B: what a model writes for a bound name is never executed', () =>
    family('B', 500, playOverrides))

  test('[R41] [R42] [E15] [P3] C: no model makes a value that models may not make', () =>
    family('C', 448, playForbidden))

  test('[D15] [C17] [E18] D: a hidden value that somebody gives back is read by no model', () =>
    family('D', 800, playEchoes))

  test('[D15] [C17] [F22] D: what works in the background gives a hidden value back to no model', () =>
    family('D in tasks', 150, playTaskEchoes))

  test('[D15] [E19] R: what a model reasons tells no hidden value, and no model reads it', () =>
    family('R', 208, playReasoning))

  test('[D22] [C12] [E26] [F36] E and F: nobody makes an agent do what it may not do', () =>
    family('E', 1200, playPrivileges))

  test('[C6] [C10] [C16] [C17] [D15] T: a hand-over shows, makes and reaches nothing that it may not', () =>
    family('T', 200, playHandOvers))

  test('[C16] [C17] [C35] [D15] P: a message between peers shows, makes and reaches nothing that it may not', () =>
    family('P', 60, playPeers))

  test('[F08] [D15] [C6] PL: a plan tells no hidden value, and nobody else reads it', () => family('PL', 26, playPlans))
  test('[F08] [D15] [C6] RF: a critique tells no hidden value, and nobody else reads it', () =>
    family('RF', 26, playReflection))
  test('[D15] [C17] GR: who checks sees no hidden value, and no hit says what was found', () =>
    family('GR', 18, playGuardrails))

  test('[D15] [P5] [C19] MC: a server gets no value that is not bound for it, and gives none back', () =>
    family('MC', 60, playMcp))

  test('[F02] [D15] [C6] HK: what hooks write tells no hidden value, and speaks in no other name', () =>
    family('HK', 130, playHooks))

  test('[C36] [Tb06] N: with aliases nobody’s id, name or role reaches a model', () => family('N', 10, playPeople))

  test('[C6] [E85] S: nobody speaks to a model in the name of another', () => family('S', 200, playSpeaking))

  test('[C31] [M02] G: who calls over A2A gets nothing of others, nothing for people, and no bound value', () =>
    family('G from outside', 1500, playOutside))

  test('[D22] [M02] [M06] E and F: nobody who calls over A2A makes an agent do what it may not do, and no claim of a message is believed', () =>
    family('E from outside', 700, playOutsideOrders))

  test('[D15] [C17] [I13] [D20] I over the wire: a hidden value stands in no request to another server, and comes back to no model', () =>
    family('I over the wire', 300, playRemotes))

  test('[M03] [C21] V: no word of evidence, of a credential or of a condition reaches a model, a log, a span or an export, and no proof is kept', () =>
    family('V', 30, playEvidence))

  test('[C21] [E66] W: no model, log, span, figure or export has a word of what this server demands itself', () =>
    family('W', 3, playDemands))

  test('[D15] H: no error tells a hidden value', () => family('H', 160, playErrors))

  test('[D15] [D18] H: no answer of the server, and no line of its log, tells a hidden value', () =>
    family('H over HTTP', 100, playHttpErrors))

  test('[I13] [C17] [C18] no way out of a server tells a hidden value, on any store', () =>
    family('exits', 150, playExits))

  test('[C32] [D15] [T31] S: with full content no hidden value leaves for observers, without content no word does', () =>
    family('S', 54, playTraces))

  test('[D17] [R11] [R45] [C31] G: what a principal does not reach is told like what is not there', () =>
    family('G', 9000, playReach))

  test('[D17] [R11] [C31] G on PostgreSQL: the same, and its wall holds where statements forget their database', () =>
    family('G on PostgreSQL', 1000, playReachOnPostgres))

  test('[D11] [Fb06] [I8] I: no call that a person must release happens unreleased', () =>
    family('I', 72, playApprovals))

  test('[F02] [F39] [D15] K: a search gives nothing of another’s documents, and nobody else reads what it gave', () =>
    family('K', 100, (ledger) => playKnowledge(ledger, { memory: async () => memoryStore() })))

  test('[F02] [F39] [D15] M: what is remembered of one person reaches nobody else, and nothing hidden is remembered', () =>
    family('M', 60, (ledger) => playMemory(ledger, { memory: async () => memoryStore() })))

  test('the corpus as a whole', (context) => {
    context.diagnostic(summaryOf(ledgers))
  })
})
