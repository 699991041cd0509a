/** What a call's model has reasoned, as dim lines. Pure. */
import type { Line } from './lines.ts'
import { shownText } from '@witan/protocol/shown'
import { wrapLine } from './wrap.ts'

/** The last `most` characters, in lines of about `columns`. */
export function reasonedWords(text: string, { columns, most }: { columns: number; most: number }): Line[] {
  const words = shownText(text.length > most ? `…${text.slice(-most)}` : text).trim()
  return wrapLine([{ text: words, tone: 'faint' }], Math.max(8, columns)).filter((line) => line.length > 0)
}
