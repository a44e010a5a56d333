import { createRoot } from 'react-dom/client';
import { Chat } from './chat.tsx';
import './style.css';

createRoot(document.getElementById('root') as HTMLElement).render(<Chat />);
