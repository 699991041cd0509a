/** The type of what a terminal may get, so that text from outside cannot be written by mistake. */

declare const shown: unique symbol

/** Text that a terminal only shows, with the control codes that the command line adds itself. */
export type Shown = string & { readonly [shown]: true }

/**
 * Vouches that a text is safe: every part of it passed `shownText` or `shownJson`, or is written in this package. Only the files that
 * write to the terminal may call it; a test lists them.
 */
export function asShown(text: string): Shown {
  return text as Shown
}
