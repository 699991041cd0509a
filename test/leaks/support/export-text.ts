/** The export of a conversation as text. A replay of it must come to the same log. */
import type { Runtime } from '@witan/core'
import { readReplaySource, replay } from '@witan/core/export'
import type { Ledger } from './ledger.ts'

export async function exportOf(
  runtime: Pick<Runtime, 'exportConversation'>,
  id: string,
  ledger: Ledger,
): Promise<string> {
  const lines: string[] = []
  for await (const line of runtime.exportConversation(id)) lines.push(line)
  const { difference } = await replay(await readReplaySource(runtime.exportConversation(id)))
  ledger.claim(`its export plays otherwise: ${JSON.stringify(difference)?.slice(0, 300)}`, difference === null)
  return lines.join('\n')
}
