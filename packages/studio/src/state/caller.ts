/** Who called from another server, in words. */
import { forWhomWords } from '@witan/protocol/access'
import type { OutsideCaller } from '@witan/protocol/schemas'
import { shownText } from '@witan/protocol/shown'

/** `@a@b.example for mailto:u@a.example, hop 2`; for whom is left out without evidence, the hop where no chain came. */
export function callerText(caller: OutsideCaller): string {
  const { address, hop } = caller
  const whom = forWhomWords(caller)
  return `${shownText(whom === '' ? address : `${address} ${whom}`)}${hop === null ? '' : `, hop ${hop}`}`
}

/** The same beside the name of the agent that was called: `← @a@b.example, hop 2`. */
export function callerWords(caller: OutsideCaller): string {
  return `← ${callerText(caller)}`
}
