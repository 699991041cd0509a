/** What can be done with something that was said: see who read it, copy it. */
import { useReadsAll } from '../state/account.ts'
import { copyText } from '../state/use-copy.ts'
import { Menu } from './menu.tsx'

interface MessageMenuProps {
  /** Who said it. */
  readonly author: string
  readonly text: string
  /** The entry that holds it; null while it is being written. */
  readonly seq: number | null
  readonly onReaders: (seq: number) => void
}

/** Who read it is shown to those who may read everything. */
export function MessageMenu({ author, text, seq, onReaders }: MessageMenuProps) {
  const readsAll = useReadsAll()
  const items = [
    ...(readsAll && seq !== null ? [{ words: 'Who read this', onChoose: () => onReaders(seq) }] : []),
    { words: 'Copy', onChoose: () => void copyText(text).catch(() => {}) },
  ]
  return <Menu label={`Menu of what ${author} said`} items={items} />
}
