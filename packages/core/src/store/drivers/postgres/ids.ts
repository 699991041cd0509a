/** Ids that are unique across stores. */
import { randomBytes, randomUUID } from 'node:crypto'

/** Unique to this store: 16 bytes. */
export const newSender = (): Buffer => randomBytes(16)

/** Unique to one group of appends, or to one trial write. */
export const newMark = (): string => randomUUID()
