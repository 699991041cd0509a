/** Copies a text to the clipboard, and says for a moment that it did. */
import { useState } from 'react'

const copiedMs = 2_000

/** `copied` is true for two seconds after a copy. A browser that refuses copies nothing, and nothing is said. */
export function useCopy() {
  const [copied, setCopied] = useState(false)
  const copy = (text: string) => {
    copyText(text)
      .then(() => {
        setCopied(true)
        setTimeout(() => setCopied(false), copiedMs)
      })
      .catch(() => {})
  }
  return { copied, copy }
}

/** Copies a text. Over plain HTTP from another machine, a page can copy only by a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
