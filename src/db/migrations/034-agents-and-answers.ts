/**
 * Which assistant a run was created for, as it was then: traces name it. And the headers of each receiver's answer to a
 * delivery. Null in rows of older servers. No transaction that has attempts of deliveries locked waits for runs.
 */
export const agentsAndAnswers = `
alter table runs add column assistant_name text;
alter table runs add column assistant_version integer;
alter table webhook_attempts add column answer_headers {json};
`;
