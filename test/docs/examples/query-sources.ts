/** What a source for PostgreSQL says of a query's text without its database. */
import { createPostgresSource } from '@witan/core'

const crm = createPostgresSource({ url: 'postgres://reader:secret@127.0.0.1:1/crm' })
for (const sql of [
  `select total from orders where employee = $userId and day >= $day::date`,
  `with gone as (delete from orders returning *) select * from gone`,
  `select pg_read_file('/etc/passwd')`,
  `select total from orders where employee = '$userId'`,
]) {
  const check = await crm.check(sql)
  if (!check.ok) console.log(check.problem, '–', check.detail, ...('placeholders' in check ? check.placeholders : []))
}
await crm.close()
