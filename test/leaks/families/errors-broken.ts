/** Family H, where the runtime itself breaks: a store that fails, and a runtime that is closed. */
import { memoryStore } from '@witan/core'
import { type FaultyStore, faultyStore, scriptedModel } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { fakeClock } from '../../support/clock.ts'
import { agent, createStage, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'
import { textOf } from '../support/texts.ts'

/** Plays every way to break; adds the codes that came. */
export async function playBroken(ledger: Ledger, codes: Set<string>): Promise<void> {
  await playReport(ledger)
  for (const [index, how] of ['fail', 'executeAndFail', 'closed'].entries()) {
    const id = `hb${index}`
    ledger.begin(`a store that ${how}`)
    const reports: unknown[] = []
    const broken: FaultyStore = faultyStore(memoryStore(), {
      seed: index,
      rates: how === 'closed' ? {} : { append: { [how]: 1 } },
    })
    const stage = createStage({
      agents: [agent('root', { parameters: [{ name: 'key', sendToModel: false }] })],
      plays: { root: ['done'] },
      options: {
        store: broken.store,
        models: { 'play/model': scriptedModel(() => ({ hang: true })) },
        report: (error) => reports.push(error),
      },
    })
    const opening = stage.ask('root', canary(id), { parameters: { key: canary(id) } })
    if (how === 'closed') {
      await new Promise((resolve) => setImmediate(resolve))
      await stage.runtime.close()
    }
    const error: unknown = await opening.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (isWitanError(error)) codes.add(error.code)
    ledger.control('error', isWitanError(error))
    ledger.deny('leak', 'thrown error', scannerOf([id])(textOf(error)))
    ledger.deny('leak', 'report', scannerOf([id])(textOf(reports)))
  }
}

/** What breaks inside is reported in its own words: whoever finds nothing there has looked at the right place. */
async function playReport(ledger: Ledger): Promise<void> {
  ledger.begin('a store that breaks with words of its own')
  const [store, clock] = [memoryStore(), fakeClock()]
  let isBroken = false
  const claimJobs: typeof store.claimJobs = async (claim) => {
    if (isBroken) throw new Error(`broken at ${canary('mark')}`)
    return store.claimJobs(claim)
  }
  const stage = createStage({
    agents: [agent('root')],
    plays: { root: ['done'] },
    options: { store: { ...store, claimJobs }, clock },
  })
  await stage.ask('root', 'go')
  isBroken = true
  clock.advance(60_000)
  await until(() => stage.reports.length > 0)
  await stage.runtime.close()
  ledger.control('report', scannerOf(['mark'])(textOf(stage.reports)).size > 0)
}
