/** Names that no other store has given. */
import { randomUUID } from 'node:crypto'

/** Unique to this store. */
export const newSender = (): string => randomUUID()

/** Unique to one group of appends. */
export const newMark = (): string => randomUUID()
