/** The script of the agent `records`. */
import { lines, one, playing, rowsOf, type Steps } from './play.ts'
import { euros } from './words.ts'

/** Contacts, invoices, the account itself, or who looks after another one. */
export const recordsScript = playing(function* ({ message }): Steps {
  if (/\binvoices?\b|\bpaid\b|\bowes?\b/i.test(message)) {
    const rows = rowsOf(yield* one('my_invoices')).filter(
      ({ paid }) => paid === null || !/\bopen|unpaid|owes?\b/i.test(message),
    )
    if (rows.length === 0) return 'There are no such invoices of your account.'
    return `Invoices of your account:\n${lines(rows, ({ id, amount, due, paid }) => `${id}: ${euros(amount)}, due ${due}, ${paid === null ? 'open' : `paid ${paid}`}`)}`
  }
  if (/\bcontacts?\b|\bphone\b|\bwhom? (do|can|should) I (call|talk|write)/i.test(message)) {
    const rows = rowsOf(yield* one('my_contacts'))
    return rows.length === 0 ? 'No contacts of your account are known.' : lines(rows, contact)
  }
  const [, who] = /\bwho is (\w+)/i.exec(message) ?? []
  if (who !== undefined && who !== 'the') {
    const rows = rowsOf(yield* one('my_contacts')).filter(({ name }) =>
      String(name).toLowerCase().includes(who.toLowerCase()),
    )
    return rows.length === 0 ? `${who} is no contact of your account.` : lines(rows, contact)
  }
  if (/\bmy (account|customer)\b/i.test(message)) {
    const [row] = rowsOf(yield* one('my_account'))
    return row === undefined
      ? 'Your account is not in the records.'
      : `Your account is ${row['name']} in ${row['city']} (${row['industry']}), since ${row['since']}.`
  }
  const [, name = ''] = /\b(?:after|of|about|for|called|is) ([A-Z]\w*)/.exec(message) ?? []
  const rows = rowsOf(yield* one('find_accounts', { name }))
  if (rows.length === 0) return `There is no account called ${name}.`
  return lines(rows, (row) => `${row['name']}, ${row['city']} (${row['industry']}): looked after by ${row['manager']}`)
})

function contact({ name, role, email, phone }: ReturnType<typeof rowsOf>[number]): string {
  return `${name}, ${role}: ${email}, ${phone}`
}
