/** Accounts, from the database of the office: the person's own account by `$accountId`, of all others the names alone. */
import { type Agent, defineAgent } from '@witan/core'
import type { ModelFor } from '../model.ts'
import { recordsScript } from '../scripts/records.ts'
import { accountId, setting } from '../world.ts'
import { fields } from './schema.ts'

export const recordsAgent = (model: ModelFor): Agent =>
  defineAgent({
    id: 'records',
    name: 'Records',
    description: 'Knows accounts: contacts and invoices of the account of the person, and who looks after any other.',
    model: model('records', recordsScript),
    instructions: `${setting}
You look up accounts. Tools that say “my” already know which account the person looks after. Amounts are euros. Quote numbers exactly.`,
    parameters: [accountId],
    queries: [
      {
        name: 'my_account',
        description: 'The account that the person looks after.',
        source: 'office',
        query: 'select name, city, industry, manager, since from accounts where id = $accountId',
      },
      {
        name: 'my_contacts',
        description: 'Whom to talk to at the account of the person.',
        source: 'office',
        query: 'select name, role, email, phone from contacts where account = $accountId order by name',
      },
      {
        name: 'my_invoices',
        description: 'Invoices of the account of the person; `paid` is null where an invoice is open.',
        source: 'office',
        query: 'select id, issued, due, amount, paid from invoices where account = $accountId order by due',
      },
      {
        name: 'find_accounts',
        description: 'Accounts by a part of their name, and who looks after them. Empty for all.',
        source: 'office',
        query: `select name, city, industry, manager from accounts where instr(lower(name), lower($name)) > 0 order by name limit 50`,
        parametersSchema: fields({ name: { type: 'string', maxLength: 100 } }),
      },
    ],
  })
