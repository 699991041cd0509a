/** What of a conversation is shown, as it stands in the address: `?run=&node=&view=&readers=`. */

/** The tree of the calls of a run, when they worked, who said what to whom in it, or the files of the whole conversation. */
const panelParts = ['tree', 'timeline', 'diagram', 'artifacts'] as const
export type PanelPart = (typeof panelParts)[number]

/** A place in a conversation; what is missing is the latest run, no node, and the tree. */
export interface ConversationPlace {
  readonly run?: string | undefined
  /** The call that is shown in full. */
  readonly node?: string | undefined
  readonly view?: PanelPart | undefined
  /** The seq of the entry whose readers are shown. */
  readonly readers?: number | undefined
}

/** Reads the place in the query of an address. What is no place counts as missing, and is named so: the router keeps what a place does not name. */
export function placeIn({ run, node, view, readers }: Readonly<Record<string, unknown>>): ConversationPlace {
  return {
    run: typeof run === 'string' ? run : undefined,
    node: typeof node === 'string' ? node : undefined,
    view: panelParts.find((one) => one === view),
    readers: typeof readers === 'number' && Number.isSafeInteger(readers) && readers >= 1 ? readers : undefined,
  }
}
