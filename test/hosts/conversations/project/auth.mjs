import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate((request) => {
    const user = request.headers.get('x-user');
    if (!user) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity: user, permissions: ['read'] };
  })
  .on('threads:create', ({ value, user }) => {
    value.metadata.owner = user.identity;
    return { owner: user.identity };
  });
