/** Who called from another server, in words. */
import type { OutsideCaller } from '@witan/protocol/schemas'
import { shownText } from '@witan/protocol/shown'

/** `@a@b.example, hop 2`; the hop is left out where no chain came. */
export function callerText({ address, hop }: OutsideCaller): string {
  return `${shownText(address)}${hop === null ? '' : `, hop ${hop}`}`
}

/** The same beside the name of the agent that was called: `← @a@b.example, hop 2`. */
export function callerWords(caller: OutsideCaller): string {
  return `← ${callerText(caller)}`
}
