/** The buttons of the Studio: one look for the thing to do, one for everything else. */
import type { ComponentProps } from 'react'

const looks = {
  primary: 'border-transparent bg-accent text-on-accent hover:opacity-90',
  plain: 'border-line-strong bg-panel text-ink hover:bg-sunken',
  quiet: 'border-transparent text-muted hover:bg-sunken hover:text-ink',
  danger: 'border-fail-line bg-panel text-fail hover:bg-fail-soft',
}

/** The classes of a button, for links that look like one. */
export function buttonLook(look: keyof typeof looks): string {
  return `inline-flex min-h-9 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium disabled:cursor-default disabled:opacity-45 ${looks[look]}`
}

/** A button that sends nothing by itself unless its type says so. */
export function Button(props: ComponentProps<'button'> & { readonly look?: keyof typeof looks }) {
  const { look = 'plain', type = 'button', className = '', ...rest } = props
  return <button type={type} className={`${buttonLook(look)} ${className}`} {...rest} />
}
